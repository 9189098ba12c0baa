package lineage

import (
	"cmp"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Edge is one link: the run To used the node From.
type Edge struct {
	From     string
	To       string
	Artifact string       // what of From was used, "" = not said. Or, to an artifact node or a dataset, what From made.
	Role     tracker.Role // "" where the writer said none, as TorchX does
	Time     time.Time    // when the link was recorded; zero = unknown
}

// Hop is a node found on the way up or down.
type Hop struct {
	ID    string
	Depth int // number of edges on the shortest way, from 1
}

// compareEdges orders by From, To and Artifact.
func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Artifact, b.Artifact))
}

// compareHops orders the nearest first, then by id.
func compareHops(a, b Hop) int {
	return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.ID, b.ID))
}
