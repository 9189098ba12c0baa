package lineage

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Load reads every link of a root from one full listing. Records of runs are not read. What could not be read is
// among Graph.Warnings.
func Load(ctx context.Context, t *tracker.FileTracker) (*Graph, error) {
	set, err := t.Edges(ctx)
	if err != nil {
		return nil, fmt.Errorf("load lineage: %w", err)
	}
	g := New(set.Runs, set.Edges)
	g.warnings = set.Warnings
	return g, nil
}

// maxReads is how many runs Attach reads at once.
const maxReads = 16

// runReader is the part of tracker.FileTracker that Attach needs.
type runReader interface {
	Run(ctx context.Context, id tracker.RunID) (*tracker.Run, error)
}

// manyReader is a runReader that reads many runs at once, and leaves out those that there are not. It may tell less of each
// than Run does.
type manyReader interface {
	Records(ctx context.Context, ids []tracker.RunID) (map[tracker.RunID]*tracker.Run, error)
}

// runs lists the runs that the nodes are.
func (s *Subgraph) runs() []tracker.RunID {
	var ids []tracker.RunID
	for i := range s.Nodes {
		if id, ok := s.Nodes[i].owner(); ok && s.Nodes[i].Kind == KindRun {
			ids = append(ids, id)
		}
	}
	return ids
}

// owner is the run that a node is or belongs to, if the root may have records of it.
func (n *Node) owner() (tracker.RunID, bool) {
	switch {
	case n.Missing:
	case n.Kind == KindArtifact:
		return tracker.RunID(n.Owner), true
	case n.Kind == KindRun:
		return tracker.RunID(n.ID), true
	}
	return "", false
}

// Attach reads the records of the runs among the nodes, in parallel, into Node.Run. A run that has gone since the
// graph was loaded becomes Missing. A root artifact that neither its run records nor any edge names is an error of
// kind ErrNotExist.
func (s *Subgraph) Attach(ctx context.Context, t runReader) error {
	many, atOnce := t.(manyReader)
	if atOnce {
		runs, err := many.Records(ctx, s.runs())
		if err != nil {
			return fmt.Errorf("read runs of lineage: %w", err)
		}
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Kind == KindRun && !n.Missing {
				n.take(runs[tracker.RunID(n.ID)])
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if id, ok := n.owner(); ok && (n.Kind == KindArtifact || !atOnce) {
			group.Go(func() error { return n.attach(ctx, t, id) })
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("read runs of lineage: %w", err)
	}
	return s.checkArtifact()
}

// attach reads the run that a node is or belongs to.
func (n *Node) attach(ctx context.Context, t runReader, id tracker.RunID) error {
	run, err := t.Run(ctx, id)
	if err == nil || errors.Is(err, store.ErrNotExist) {
		n.take(run)
		return nil
	}
	return err
}

// take notes what was read of the run that a node is or belongs to; nil = there is none.
func (n *Node) take(run *tracker.Run) {
	n.Run = run
	n.Missing = run == nil || n.Kind == KindArtifact && n.Record() == nil
}

// Record is what the owner of an artifact node recorded of it. It is nil before Subgraph.Attach, for other nodes, and
// where the owner has no such record.
func (n *Node) Record() *tracker.Artifact {
	if n.Kind != KindArtifact || n.Run == nil {
		return nil
	}
	for i := range n.Run.Artifacts {
		if n.Run.Artifacts[i].Name == n.Artifact {
			return &n.Run.Artifacts[i]
		}
	}
	return nil
}

// checkArtifact refuses a root artifact of which nobody has ever said anything.
func (s *Subgraph) checkArtifact() error {
	root, err := s.Node(s.Root)
	if err != nil || root.Kind != KindArtifact || !root.Missing || s.rootUsed {
		return nil //nolint:nilerr // an answer reduced to some of its nodes may lack the root
	}
	return notFound(s.Root, fmt.Errorf("%s has no artifact %q%s", root.Owner, root.Artifact, names(root.Run)))
}

// maxNamed is how many artifacts an error spells out.
const maxNamed = 5

// names lists the artifacts of a run for an error message.
func names(run *tracker.Run) string {
	if run == nil || len(run.Artifacts) == 0 {
		return ""
	}
	list := "; it has "
	for i, a := range run.Artifacts {
		switch {
		case i == maxNamed:
			return list + fmt.Sprintf(" and %d more", len(run.Artifacts)-maxNamed)
		case i > 0:
			list += ", "
		}
		list += a.Name
	}
	return list
}
