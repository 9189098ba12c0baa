package prov

import (
	"math"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// node writes what a node is, and what is recorded of it.
func (w *writer) node(n *lineage.Node) {
	switch n.Kind {
	case lineage.KindRun:
		w.run(n)
	case lineage.KindArtifact:
		w.artifact(n.Owner, n.Artifact)
		if _, err := w.sub.Node(n.Owner); err != nil { // it is beyond the depth that was asked for
			w.member(activity).Set(runName(n.Owner), labelled("heirloom:Run", tracker.RunID(n.Owner).Name()))
			w.generate(n.Owner, artifactName(n.Owner, n.Artifact))
		}
	default:
		kind := "heirloom:Input"
		if n.Kind == lineage.KindDataset {
			kind = "heirloom:Dataset"
		}
		o := labelled(kind, n.Label())
		setText(o, "prov:location", n.URI)
		setText(o, "heirloom:version", n.Version)
		setText(o, "heirloom:digest", n.Digest)
		w.member(entity).Set(inputName(n.ID), o)
	}
}

// run writes a run with its times, parameters and metrics, the chief of its artifacts, and its user.
func (w *writer) run(n *lineage.Node) {
	o := &pyjson.Object{}
	if n.Run != nil {
		setTime(o, "prov:startTime", n.Run.Started)
		setTime(o, "prov:endTime", n.Run.Ended)
	}
	o.Merge(labelled("heirloom:Run", n.Label()))
	setText(o, "heirloom:id", n.ID)
	if n.Missing {
		o.Set("heirloom:missing", true)
	}
	w.member(activity).Set(runName(n.ID), o)
	if n.Run == nil {
		return
	}
	o.Set("heirloom:state", string(n.Run.State))
	for key, v := range n.Run.Metadata.All() {
		if strings.HasPrefix(key, tracker.PrefixParams) || strings.HasPrefix(key, tracker.PrefixMetrics) || strings.HasPrefix(key, tracker.PrefixTags) ||
			key == tracker.KeyGitCommit || key == tracker.KeyName {
			if v := literal(v); v != nil {
				o.Set("heirloom:"+encode(strings.TrimPrefix(key, "heirloom.")), v)
			}
		}
	}
	for _, a := range n.Run.Artifacts {
		if kind := a.Kind(); kind == tracker.KindModel || kind == tracker.KindDataset {
			w.artifact(n.ID, a.Name)
			w.generate(n.ID, artifactName(n.ID, a.Name))
		}
	}
	if user := n.Run.Metadata.Text(tracker.KeyUser); user != "" {
		w.user(n.ID, user)
	}
}

func (w *writer) user(run, user string) {
	who := name("user", user)
	w.member(agent).Set(who, labelled("prov:Person", user))
	w.relate(associate, pyjson.Member{Key: "prov:activity", Value: runName(run)}, pyjson.Member{Key: "prov:agent", Value: who})
}

// artifact writes an artifact of a run, once.
func (w *writer) artifact(run, artifact string) {
	key := artifactName(run, artifact)
	if _, known := w.member(entity).Get(key); known {
		return
	}
	o := labelled("heirloom:Artifact", artifact)
	if a := w.record(run, artifact); a != nil {
		setText(o, "prov:location", a.Path)
		setText(o, "heirloom:sha256", a.SHA256())
		setText(o, "heirloom:kind", a.Kind())
		if bytes, ok := a.SizeBytes(); ok {
			o.Set("heirloom:size_bytes", bytes)
		}
	}
	w.member(entity).Set(key, o)
}

// record is what a run recorded of an artifact, nil if that is not known.
func (w *writer) record(run, artifact string) *tracker.Artifact {
	r := w.runs[run]
	if r == nil {
		return nil
	}
	for i := range r.Artifacts {
		if r.Artifacts[i].Name == artifact {
			return &r.Artifacts[i]
		}
	}
	return nil
}

func labelled(kind, label string) *pyjson.Object {
	return pyjson.NewObject(pyjson.Member{Key: "prov:label", Value: label}, pyjson.Member{Key: "prov:type", Value: qualified(kind)})
}

// qualified is a name as the value of an attribute.
func qualified(name string) *pyjson.Object {
	return pyjson.NewObject(pyjson.Member{Key: "$", Value: name}, pyjson.Member{Key: "type", Value: "prov:QUALIFIED_NAME"})
}

func moment(t time.Time) *pyjson.Object {
	return pyjson.NewObject(pyjson.Member{Key: "$", Value: t.UTC().Format(time.RFC3339Nano)}, pyjson.Member{Key: "type", Value: "xsd:dateTime"})
}

func setText(o *pyjson.Object, key, text string) {
	if text != "" {
		o.Set(key, text)
	}
}

func setTime(o *pyjson.Object, key string, t time.Time) {
	if !t.IsZero() {
		o.Set(key, t.UTC().Format(time.RFC3339Nano))
	}
}

// literal is a value of metadata as PROV has them: lists and objects as their JSON, null not at all.
func literal(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strings.Trim(string(pyjson.Valid(v)), `"`)
		}
	case bool, string, int64:
	default:
		return string(pyjson.Valid(v))
	}
	return v
}
