package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
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
	MadeBy   []string          `json:"made_by,omitempty"`
}

// showOther prints what is no recorded run, with the runs that used it, and of a content those that made it.
func (a *app) showOther(c *cobra.Command, p place, text string, format render.Format) error {
	ctx := c.Context()
	var shown shownNode
	err := a.ask(ctx, c, p, freshness{}, func(x *index.Index) error {
		node, err := a.resolve(ctx, p, x, text, freshness{})
		if err != nil {
			return err
		}
		sub, err := p.closureFrom(ctx, x, node, lineage.Query{Depth: 1})
		if err != nil {
			return err
		}
		shown, err = newShownNode(sub)
		return err
	})
	if err != nil {
		return err
	}
	if format == render.JSON || format == render.JSONL {
		return render.Document(a.stdout, shown, format)
	}
	return a.printList(shown.list(), format)
}

// newShownNode tells of the root of an answer, one step around it.
func newShownNode(sub *lineage.Subgraph) (shownNode, error) {
	n, err := sub.Node(sub.Root)
	if err != nil {
		return shownNode{}, err
	}
	shown := shownNode{
		ID: n.ID, Kind: n.Kind, Missing: n.Missing, Deleted: n.Deleted, Aliases: n.Aliases, Run: n.Owner, Artifact: n.Artifact,
		Name: n.Name, Version: n.Version, URI: n.URI, Digest: n.Digest, UsedBy: []string{},
	}
	if record := n.Record(); record != nil {
		shown.Path, shown.Metadata = record.Path, record.Metadata
	}
	for _, e := range sub.Edges {
		switch {
		case e.From == n.ID && !slices.Contains(shown.UsedBy, e.To):
			shown.UsedBy = append(shown.UsedBy, e.To)
		case e.To == n.ID && n.Kind != lineage.KindArtifact && n.Kind != lineage.KindRun:
			made := e.From
			if e.Artifact != "" {
				made += "#" + e.Artifact
			}
			shown.MadeBy = append(shown.MadeBy, made)
		}
	}
	return shown, nil
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
	for _, artifact := range n.MadeBy {
		l.Rows = append(l.Rows, []any{"made by", artifact})
	}
	for _, run := range n.UsedBy {
		l.Rows = append(l.Rows, []any{"used by", run})
	}
	return l
}
