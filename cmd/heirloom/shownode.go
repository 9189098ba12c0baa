package main

import (
	"context"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// shownNode is an artifact, an input or a missing run as show prints it in JSON; fields are only ever added.
type shownNode struct {
	ID       string            `json:"id"`
	Kind     lineage.Kind      `json:"kind"`
	Missing  bool              `json:"missing"` // others used it, but it has no record here
	Deleted  bool              `json:"deleted,omitempty"`
	Aliases  []string          `json:"aliases,omitempty"`
	Run      string            `json:"run,omitempty"`
	Artifact string            `json:"artifact,omitempty"`
	Path     string            `json:"path,omitempty"`
	Metadata *tracker.Metadata `json:"metadata,omitempty"`
	Name     string            `json:"name,omitempty"`
	Version  string            `json:"version,omitempty"`
	URI      string            `json:"uri,omitempty"`
	Digest   string            `json:"digest,omitempty"`
	UsedBy   []string          `json:"used_by"` // ids of runs, sorted
}

// showOther prints what is no recorded run, with the runs that used it.
func (a *app) showOther(ctx context.Context, p place, text string, format render.Format) error {
	graph, id, err := a.node(ctx, p, text)
	if err != nil {
		return err
	}
	sub, err := p.closure(ctx, graph, id, lineage.Query{Down: true, Depth: 1})
	if err != nil {
		return err
	}
	node, err := sub.Node(id)
	if err != nil {
		return err
	}
	aliases, err := p.aliases().List(ctx)
	if err != nil {
		return err
	}
	nameNodes(sub.Nodes, aliases)
	if err := p.markDeleted(ctx, sub.Nodes); err != nil {
		return err
	}
	shown := newShownNode(node, graph)
	if format == render.JSON || format == render.JSONL {
		return render.Document(a.stdout, shown, format)
	}
	return a.printList(shown.list(), format)
}

func newShownNode(n *lineage.Node, graph *lineage.Graph) shownNode {
	shown := shownNode{
		ID: n.ID, Kind: n.Kind, Missing: n.Missing, Deleted: n.Deleted, Aliases: n.Aliases, Run: n.Owner, Artifact: n.Artifact,
		Name: n.Name, Version: n.Version, URI: n.URI, Digest: n.Digest, UsedBy: []string{},
	}
	if record := n.Record(); record != nil {
		shown.Path, shown.Metadata = record.Path, record.Metadata
	}
	for _, hop := range graph.Descendants(n.ID, 1) {
		shown.UsedBy = append(shown.UsedBy, hop.ID)
	}
	return shown
}

// list is the node as keys and values, without those that have none.
func (n shownNode) list() render.List {
	l := render.List{Key: "facts", Columns: []render.Column{{Name: "key"}, {Name: "value"}}}
	for _, fact := range [][2]string{
		{"id", n.ID}, {"kind", string(n.Kind)}, {"run", n.Run}, {"artifact", n.Artifact}, {"path", n.Path},
		{"name", n.Name}, {"version", n.Version}, {"uri", n.URI}, {"digest", n.Digest},
	} {
		if fact[1] != "" {
			l.Rows = append(l.Rows, []any{fact[0], fact[1]})
		}
	}
	if n.Missing {
		l.Rows = append(l.Rows, []any{"missing", true})
	}
	if n.Deleted {
		l.Rows = append(l.Rows, []any{"deleted", true})
	}
	for _, alias := range n.Aliases {
		l.Rows = append(l.Rows, []any{"alias", alias})
	}
	for key, value := range n.Metadata.All() {
		l.Rows = append(l.Rows, []any{"metadata." + key, value})
	}
	for _, run := range n.UsedBy {
		l.Rows = append(l.Rows, []any{"used by", run})
	}
	return l
}
