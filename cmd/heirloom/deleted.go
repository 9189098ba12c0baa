package main

import (
	"context"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/tracker"
)

// annotate tells of the nodes of an answer which aliases they have, and which were deleted.
func (p place) annotate(ctx context.Context, x *index.Index, nodes []lineage.Node) error {
	aliases, err := x.Aliases(ctx)
	if err != nil {
		return err
	}
	nameNodes(nodes, aliases)
	return p.markDeleted(ctx, nodes)
}

// markDeleted tells which of the runs that an answer lacks were deleted: one listing, and none where nothing is lacking.
func (p place) markDeleted(ctx context.Context, nodes []lineage.Node) error {
	var missing []tracker.RunID
	for i := range nodes {
		if mayBeDeleted(&nodes[i]) {
			missing = append(missing, tracker.RunID(nodes[i].ID))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	deleted, err := p.removals().Among(ctx, missing)
	if err != nil {
		return err
	}
	for i := range nodes {
		if n := &nodes[i]; mayBeDeleted(n) && deleted[tracker.RunID(n.ID)] {
			n.Kind, n.Missing, n.Deleted = lineage.KindRun, true, true
		}
	}
	return nil
}

// mayBeDeleted says whether a node is a run without a record, or is only known by an id that might be a run's.
func mayBeDeleted(n *lineage.Node) bool {
	return n.Kind == lineage.KindRun && n.Missing || n.Kind == lineage.KindExternal && n.URI == ""
}

// nameNodes gives the nodes of an answer the aliases that they have.
func nameNodes(nodes []lineage.Node, aliases []alias.Alias) {
	byRun := render.NewRunAliases(aliases)
	for i := range nodes {
		n := &nodes[i]
		switch n.Kind {
		case lineage.KindRun:
			n.Aliases = byRun.Names(tracker.RunID(n.ID))
		case lineage.KindArtifact:
			n.Aliases = nil
			for _, a := range byRun[tracker.RunID(n.Owner)] {
				if a.Node == n.ID {
					n.Aliases = append(n.Aliases, a.Name)
				}
			}
		}
	}
}
