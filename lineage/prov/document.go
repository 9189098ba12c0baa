package prov

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Namespace is what the prefix heirloom of all names stands for.
const Namespace = "urn:heirloom:"

// The members of a document, in the order in which they stand. An empty one is left out.
const (
	entity    = "entity"
	activity  = "activity"
	agent     = "agent"
	used      = "used"
	generated = "wasGeneratedBy"
	derived   = "wasDerivedFrom"
	informed  = "wasInformedBy"
	started   = "wasStartedBy"
	associate = "wasAssociatedWith"
)

// New is the document of a lineage; its runs tell of states, times, parameters, metrics, artifacts and users if they
// were attached. The order is that of the lineage.
//
// What a run used by the name of an artifact is an entity that its maker generated and the run used. A use that names no
// artifact is wasInformedBy, a launch wasStartedBy. Whatever a run generated derives from all that it used: nobody
// records more than that.
func New(sub *lineage.Subgraph) *pyjson.Object {
	w := &writer{sub: sub, members: map[string]*pyjson.Object{}, runs: map[string]*tracker.Run{}, made: map[string][]string{}, uses: map[string][]string{}}
	for _, n := range sub.Nodes {
		if n.Run != nil {
			w.runs[string(n.Run.ID)] = n.Run
		}
	}
	for i := range sub.Nodes {
		w.node(&sub.Nodes[i])
	}
	for _, e := range sub.Edges {
		w.edge(e)
	}
	w.derivations()
	doc := pyjson.NewObject(pyjson.Member{Key: "prefix", Value: pyjson.NewObject(
		pyjson.Member{Key: "heirloom", Value: Namespace},
		pyjson.Member{Key: "prov", Value: "http://www.w3.org/ns/prov#"},
		pyjson.Member{Key: "xsd", Value: "http://www.w3.org/2001/XMLSchema#"})})
	for _, name := range []string{entity, activity, agent, used, generated, derived, informed, started, associate} {
		if m := w.members[name]; m.Len() > 0 {
			doc.Set(name, m)
		}
	}
	return doc
}

// writer is a document in the making.
type writer struct {
	sub     *lineage.Subgraph
	members map[string]*pyjson.Object
	runs    map[string]*tracker.Run

	// By run: the entities that it generated and that matter to others, and those that it used. In order, with doubles.
	made, uses map[string][]string
}

func (w *writer) member(name string) *pyjson.Object {
	if w.members[name] == nil {
		w.members[name] = &pyjson.Object{}
	}
	return w.members[name]
}

// relate adds a relation under a name of its own.
func (w *writer) relate(name string, members ...pyjson.Member) {
	m := w.member(name)
	m.Set(fmt.Sprintf("_:%s%d", name, m.Len()+1), pyjson.NewObject(members...))
}

// name is a qualified name. What has a meaning in a URI or in PROV-N is percent-encoded.
func name(kind string, parts ...string) string {
	for i, part := range parts {
		parts[i] = encode(part)
	}
	return "heirloom:" + kind + "/" + strings.Join(parts, "/")
}

func encode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0 && i < len(text)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func runName(id string) string                 { return name("run", id) }
func inputName(id string) string               { return name("input", id) }
func artifactName(run, artifact string) string { return name("artifact", run, artifact) }

// edge writes one edge as one or two relations.
func (w *writer) edge(e lineage.Edge) {
	from, err := w.sub.Node(e.From)
	to, otherErr := w.sub.Node(e.To)
	if err != nil || otherErr != nil {
		return // an edge of a subgraph has both its ends in it
	}
	switch {
	case to.Kind == lineage.KindArtifact:
		w.generate(e.From, artifactName(to.Owner, to.Artifact))
	case to.Kind != lineage.KindRun:
		w.generate(e.From, inputName(e.To))
	case from.Kind == lineage.KindArtifact:
		w.use(e, artifactName(from.Owner, from.Artifact))
	case from.Kind != lineage.KindRun:
		w.use(e, inputName(e.From))
	case e.Artifact != "":
		w.artifact(e.From, e.Artifact)
		w.generate(e.From, artifactName(e.From, e.Artifact))
		w.use(e, artifactName(e.From, e.Artifact))
	case e.Role == tracker.RoleParent:
		w.relate(started, pyjson.Member{Key: "prov:activity", Value: runName(e.To)}, pyjson.Member{Key: "prov:starter", Value: runName(e.From)})
	default:
		members := []pyjson.Member{{Key: "prov:informed", Value: runName(e.To)}, {Key: "prov:informant", Value: runName(e.From)}}
		if e.Role != "" {
			members = append(members, pyjson.Member{Key: "prov:type", Value: qualified("heirloom:" + encode(string(e.Role)))})
		}
		w.relate(informed, members...)
	}
}

// generate says, once, that a run made an entity.
func (w *writer) generate(run, made string) {
	if slices.Contains(w.made[run], made) {
		return
	}
	w.made[run] = append(w.made[run], made)
	w.relate(generated, pyjson.Member{Key: "prov:entity", Value: made}, pyjson.Member{Key: "prov:activity", Value: runName(run)})
}

// use says that the run at the end of an edge used an entity.
func (w *writer) use(e lineage.Edge, what string) {
	w.uses[e.To] = append(w.uses[e.To], what)
	members := []pyjson.Member{{Key: "prov:activity", Value: runName(e.To)}, {Key: "prov:entity", Value: what}}
	if !e.Time.IsZero() {
		members = append(members, pyjson.Member{Key: "heirloom:recorded", Value: moment(e.Time)})
	}
	w.relate(used, members...)
}

// derivations says of what a run generated that it derives from what the run used.
func (w *writer) derivations() {
	for i := range w.sub.Nodes {
		run := w.sub.Nodes[i].ID
		uses := slices.Compact(slices.Sorted(slices.Values(w.uses[run])))
		for _, made := range w.made[run] {
			for _, from := range uses {
				w.relate(derived,
					pyjson.Member{Key: "prov:generatedEntity", Value: made},
					pyjson.Member{Key: "prov:usedEntity", Value: from},
					pyjson.Member{Key: "prov:activity", Value: runName(run)})
			}
		}
	}
}
