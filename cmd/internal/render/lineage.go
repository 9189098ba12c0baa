package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/lineage/prov"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Lineage prints a part of the graph in one of LineageFormats: a tree for people, one JSON document, its edges or nodes
// as JSON lines or CSV, a picture as SVG or in the language of Graphviz or Mermaid, a document of W3C PROV, or events of
// OpenLineage, one a line. States, metrics and artifacts are there if the runs were attached.
func Lineage(w io.Writer, sub *lineage.Subgraph, f Format, s Style) error {
	switch f {
	case Tree:
		return newPicture(sub).tree(w, s)
	case JSON:
		return Document(w, newGraph(sub, s.Completeness), f)
	case JSONL, CSV:
		if s.Nodes {
			return nodeList(sub).Write(w, f, s)
		}
		return edgeList(sub).Write(w, f, s)
	case DOT:
		return newPicture(sub).dot(w)
	case Mermaid:
		return newPicture(sub).mermaid(w)
	case SVG:
		return newPicture(sub).svg(w)
	case PROV:
		return Document(w, prov.New(sub), JSON)
	case OpenLineage:
		return events(w, sub, s.OpenLineage)
	}
	return unsupported(f, LineageFormats)
}

// events prints the events of all runs of a lineage, one a line, the earliest run first.
func events(w io.Writer, sub *lineage.Subgraph, given *openlineage.Options) error {
	var o openlineage.Options
	if given != nil {
		o = *given
	}
	p := newPicture(sub)
	var ids []string
	for i := range sub.Nodes {
		if n := &sub.Nodes[i]; n.Kind == lineage.KindRun && n.Run != nil {
			ids = append(ids, n.ID)
		}
	}
	slices.SortFunc(ids, p.byTime)
	beyond := o.Lookup
	o.Lookup = func(id tracker.RunID) *tracker.Run {
		if n := p.nodes[string(id)]; n != nil && n.Run != nil {
			return n.Run
		}
		if beyond == nil {
			return nil
		}
		return beyond(id)
	}
	for _, id := range ids {
		for _, e := range openlineage.Events(p.nodes[id].Run, o) {
			if err := Document(w, e, JSONL); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeList is one node a row.
func nodeList(sub *lineage.Subgraph) List {
	l := List{Key: "nodes", Columns: []Column{
		{Name: "id"}, {Name: "kind"}, {Name: "name"}, {Name: "missing"}, {Name: "state"}, {Name: "started"}, {Name: "ended"},
		{Name: "run"}, {Name: "artifact"}, {Name: "path"}, {Name: "uri"}, {Name: "version"}, {Name: "digest"},
	}}
	cell := func(text *string) any {
		if text == nil {
			return nil
		}
		return *text
	}
	for i := range sub.Nodes {
		n := newGraphNode(&sub.Nodes[i])
		l.Rows = append(l.Rows, []any{
			n.ID, string(n.Kind), n.Name, n.Missing, cell(n.State), time.Time(n.Started), time.Time(n.Ended),
			cell(n.Run), cell(n.Artifact), cell(n.Path), cell(n.URI), cell(n.Version), cell(n.Digest),
		})
	}
	return l
}

// edgeList is one edge a row.
func edgeList(sub *lineage.Subgraph) List {
	l := List{Key: "edges", Columns: []Column{{Name: "from"}, {Name: "to"}, {Name: "artifact"}, {Name: "role"}, {Name: "time"}}}
	for _, e := range sub.Edges {
		var artifact, role any
		if e.Artifact != "" {
			artifact = e.Artifact
		}
		if e.Role != "" {
			role = e.Role
		}
		l.Rows = append(l.Rows, []any{e.From, e.To, artifact, role, e.Time})
	}
	return l
}

// picture is what the drawn forms have in common.
type picture struct {
	sub    *lineage.Subgraph
	nodes  map[string]*lineage.Node
	labels map[string]string // sanitised; the whole id where two short forms are equal
	arrows []*arrow          // in the order of their first edge
}

// arrow is all edges from one node to another.
type arrow struct {
	from, to  string
	artifacts []string // sorted, without ""
	role      tracker.Role
	made      bool // to an artifact or an input: what was made, not used; a content has other names with other runs
}

func newPicture(sub *lineage.Subgraph) *picture {
	p := &picture{sub: sub, nodes: map[string]*lineage.Node{}, labels: map[string]string{}}
	times := map[string]int{}
	for i := range sub.Nodes {
		n := &sub.Nodes[i]
		p.nodes[n.ID] = n
		times[label(n)]++
	}
	for id, n := range p.nodes {
		p.labels[id] = Sanitize(label(n))
		if times[label(n)] > 1 {
			p.labels[id] = Sanitize(id)
		}
		for _, alias := range n.Aliases {
			p.labels[id] += " @" + Sanitize(alias)
		}
	}
	for _, e := range sub.Edges {
		n := len(p.arrows)
		if n == 0 || p.arrows[n-1].from != e.From || p.arrows[n-1].to != e.To {
			p.arrows = append(p.arrows, &arrow{from: e.From, to: e.To, made: p.nodes[e.To].Kind != lineage.KindRun && p.nodes[e.To].Kind != lineage.KindContent})
		}
		p.arrows[len(p.arrows)-1].add(e)
	}
	return p
}

// label is Node.Label, but for runs that other tools told of: their ids end in a UUID, which tells people nothing, so the
// name of the job goes before its beginning.
func label(n *lineage.Node) string {
	text := n.Label()
	if n.Kind != lineage.KindRun || n.Run == nil || !strings.HasPrefix(n.ID, openlineage.Scheme+"://") || len(text) < uuidPart {
		return text
	}
	if name := n.Run.Metadata.Text(tracker.KeyName); name != "" {
		return name + "-" + text[:uuidPart]
	}
	return text
}

// uuidPart is how much of a UUID stands behind a name.
const uuidPart = 8

func (a *arrow) add(e lineage.Edge) {
	if e.Artifact != "" {
		a.artifacts = append(a.artifacts, e.Artifact)
	}
	a.role = cmp.Or(a.role, e.Role)
}

// maxArtifacts is how many artifact names stand on an arrow.
const maxArtifacts = 4

// label is what an arrow carries, sanitised: artifact names, else that it leads from the run that launched the other,
// or that the other does once more.
func (a *arrow) label() string {
	var names []string
	for i, name := range a.artifacts {
		if i == maxArtifacts {
			names = append(names, fmt.Sprintf("+%d more", len(a.artifacts)-i))
			break
		}
		names = append(names, Sanitize(name))
	}
	switch {
	case a.made:
		return ""
	case len(names) == 0 && a.role == tracker.RoleParent:
		return "launched"
	case len(names) == 0 && a.role == tracker.RoleRerun:
		return "rerun"
	}
	return strings.Join(names, ", ")
}

// state is the one word about a node: the state of a run, that its records are missing, or what else it is.
func state(n *lineage.Node) string {
	switch {
	case n.Deleted:
		return "deleted"
	case n.Missing:
		return "missing"
	case n.Kind == lineage.KindDataset:
		return "dataset"
	case n.Kind == lineage.KindExternal:
		return "input"
	case n.Kind == lineage.KindArtifact && n.Record() != nil:
		return Sanitize(n.Record().Kind())
	case n.Kind == lineage.KindRun && n.Run != nil:
		return string(n.Run.State)
	}
	return ""
}

// notes are a few facts about a node, sanitised: a run's chief metrics, an artifact's size.
func notes(n *lineage.Node) []string {
	if a := n.Record(); a != nil {
		if bytes, ok := a.SizeBytes(); ok {
			return []string{Size(bytes).String()}
		}
		return nil
	}
	if n.Kind != lineage.KindRun || n.Run == nil {
		return nil
	}
	return facts(n.Run.Metadata)
}

// byTime orders nodes as things happened: by their start, what has none first, then by id.
func (p *picture) byTime(a, b string) int {
	return cmp.Or(started(p.nodes[a]).Compare(started(p.nodes[b])), cmp.Compare(a, b))
}

func started(n *lineage.Node) time.Time {
	if n.Run == nil {
		return time.Time{}
	}
	return n.Run.Started
}

// steps lists the arrows to each node (up) or from it, the other ends in order of time.
func (p *picture) steps(up bool) map[string][]*arrow {
	steps := map[string][]*arrow{}
	for _, a := range p.arrows {
		steps[a.near(up)] = append(steps[a.near(up)], a)
	}
	for _, list := range steps {
		slices.SortFunc(list, func(a, b *arrow) int { return p.byTime(a.far(up), b.far(up)) })
	}
	return steps
}

// near is the end of an arrow from which one looks up or down, far the other.
func (a *arrow) near(up bool) string {
	if up {
		return a.to
	}
	return a.from
}

func (a *arrow) far(up bool) string { return a.near(!up) }
