package openlineage

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func member(key string, value any) pyjson.Member { return pyjson.Member{Key: key, Value: value} }

// runFacets are what is known of a run beside its data.
func (w writer) runFacets(run *tracker.Run) *pyjson.Object {
	facets := w.kept(run.Metadata, prefixRunFacet)
	if version := strings.TrimPrefix(run.Metadata.Text(tracker.KeyVersion), "heirloom "); version != "" {
		w.set(facets, processingEngine, member("version", version), member("name", "heirloom"))
	}
	for _, s := range run.Sources {
		if s.Role == tracker.RoleParent {
			parent := w.lookup(s.ID)
			namespace, name := w.job(s.ID, parent)
			w.set(facets, parentRun,
				member("run", pyjson.NewObject(member("runId", UUID(s.ID)))),
				member("job", pyjson.NewObject(member("namespace", namespace), member("name", name))))
			break
		}
	}
	if run.State == tracker.Failed {
		w.set(facets, errorMessage, member("message", failure(run)), member("programmingLanguage", language(command(run))))
	}
	if list := grouped(run.Metadata, tracker.PrefixParams, "key"); len(list) > 0 {
		w.set(facets, parameters, member("parameters", list))
	}
	if list := grouped(run.Metadata, tracker.PrefixTags, "key"); len(list) > 0 {
		w.set(facets, runTags, member("tags", list))
	}
	w.setOwn(facets, runFacet, member("id", string(run.ID)), member("state", string(run.State)),
		member("started", moment(run.Started)), member("ended", moment(run.Ended)),
		member("attempts", len(run.Attempts)), member("metadata", run.Metadata), member("sources", sources(run.Sources)))
	return facets
}

// grouped lists the members of metadata under a prefix as keys and texts.
func grouped(m *pyjson.Object, prefix, key string) []any {
	var list []any
	for name, v := range m.All() {
		short, ok := strings.CutPrefix(name, prefix)
		if !ok || v == nil {
			continue
		}
		text, isText := v.(string)
		if !isText {
			text = strings.Trim(string(pyjson.Valid(v)), `"`)
		}
		list = append(list, pyjson.NewObject(member(key, short), member("value", text)))
	}
	return list
}

// sources are the links of a run as recorded.
func sources(list []tracker.Source) []any {
	all := []any{}
	for _, s := range list {
		o := pyjson.NewObject(member("id", string(s.ID)))
		for _, m := range []pyjson.Member{
			member("artifact", s.Artifact), member("role", string(s.Role)), member("uri", s.URI), member("name", s.Name),
			member("version", s.Version), member("digest", s.Digest), member("time", moment(s.Time)),
		} {
			if m.Value != "" && m.Value != nil {
				o.Set(m.Key, m.Value)
			}
		}
		all = append(all, o)
	}
	return all
}

// jobFacets are where the code lies, what sort of job it is, and the explicit lineage: that the job read its inputs, and
// that its outputs came of the job. More than that nobody recorded.
func (w writer) jobFacets(run *tracker.Run, e *Event) *pyjson.Object {
	facets := w.kept(run.Metadata, prefixJobFacet)
	if _, _, theirs := foreign(run.ID); !theirs {
		w.set(facets, jobType, member("processingType", "BATCH"), member("integration", "HEIRLOOM"), member("jobType", "RUN"))
	}
	if at := codeURL(run.Metadata.Text(tracker.KeyGitRemote), run.Metadata.Text(tracker.KeyGitCommit)); at != "" {
		w.set(facets, codeLocation, member("type", "git"), member("url", at), member("repoUrl", run.Metadata.Text(tracker.KeyGitRemote)),
			member("version", run.Metadata.Text(tracker.KeyGitCommit)), member("branch", run.Metadata.Text(tracker.KeyGitBranch)))
	}
	if entries := w.entries(run, e); len(entries) > 0 {
		w.add(facets, "lineage", facetBase+"1-0-0/LineageFacet.json#/$defs/LineageJobFacet", []pyjson.Member{member("entries", entries)})
	}
	return facets
}

// entries are the explicit lineage.
func (w writer) entries(run *tracker.Run, e *Event) []any {
	dataset := func(d Dataset) *pyjson.Object {
		return pyjson.NewObject(member("namespace", d.Namespace), member("name", d.Name), member("type", "DATASET"))
	}
	job := func(namespace, name string) *pyjson.Object {
		return pyjson.NewObject(member("namespace", namespace), member("name", name), member("type", "JOB"))
	}
	inputs := []any{}
	for _, d := range e.Inputs {
		inputs = append(inputs, dataset(d))
	}
	for _, s := range run.Sources {
		if s.Role == "" && s.Artifact == "" { // a run, of which nobody said what was used
			namespace, name := w.job(s.ID, w.lookup(s.ID))
			other := job(namespace, name)
			other.Set("runId", UUID(s.ID))
			inputs = append(inputs, other)
		}
	}
	var entries []any
	if len(inputs) > 0 {
		own := job(e.Job.Namespace, e.Job.Name)
		own.Set("runId", e.Run.ID)
		own.Set("inputs", inputs)
		entries = append(entries, own)
	}
	for _, d := range e.Outputs {
		from := dataset(d)
		own := job(e.Job.Namespace, e.Job.Name)
		own.Set("runId", e.Run.ID)
		from.Set("inputs", []any{own})
		entries = append(entries, from)
	}
	return entries
}

// failure says how a run failed.
func failure(run *tracker.Run) string {
	if signal := run.Metadata.Text(tracker.KeySignal); signal != "" {
		return "ended by " + signal
	}
	if code, ok := run.Metadata.Get(tracker.KeyExitCode); ok && code != nil {
		return fmt.Sprintf("ended with exit code %v", code)
	}
	return "failed"
}

// command is the command line of a run.
func command(run *tracker.Run) []string {
	if n := len(run.Attempts); n > 0 {
		return run.Attempts[n-1].Start.Command
	}
	return nil
}

var interpreter = pattern.Lazy(`^(python|julia|Rscript|java|scala|node|ruby|perl|bash|sh)[0-9.]*$`)

// language guesses what a program is written in from the name of its interpreter.
func language(command []string) string {
	if len(command) > 0 {
		if m := interpreter().FindStringSubmatch(path.Base(command[0])); m != nil {
			return m[1]
		}
	}
	return "unknown"
}

var scpLike = pattern.Lazy(`^(?:[^@/]+@)?([^:/]+):(.+)$`)

// codeURL is a page for a commit, "" where the remote is none that has any.
func codeURL(remote, commit string) string {
	if remote == "" || commit == "" {
		return ""
	}
	if !strings.Contains(remote, "://") {
		m := scpLike().FindStringSubmatch(remote)
		if m == nil {
			return ""
		}
		remote = "https://" + m[1] + "/" + m[2]
	}
	u, err := url.Parse(remote)
	if err != nil || u.Host == "" {
		return ""
	}
	if u.Scheme != "http" {
		u.Scheme = "https"
	}
	u.User = nil
	if u.Scheme == "https" && u.Port() == "22" {
		u.Host = u.Hostname()
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git") + "/tree/" + commit
	return u.String()
}

// kept are the facets that came with the events of which a run was made.
func (w writer) kept(m *pyjson.Object, prefix string) *pyjson.Object {
	facets := &pyjson.Object{}
	for key, v := range m.All() {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			if facet, ok := v.(*pyjson.Object); ok {
				facets.Set(name, cmp.Or(facet, &pyjson.Object{}))
			}
		}
	}
	return facets
}
