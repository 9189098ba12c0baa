package lineage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// digestPrefix begins the ids of contents.
const digestPrefix = "sha256:"

// How many hexadecimal digits name a digest: enough that nobody types them by accident, and all.
const (
	leastDigits = 8
	maxDigits   = 64
)

// Content is an artifact of which a run recorded the SHA-256, or an input that was used with one: bytes under one of
// their names. The same bytes under two names are one content.
type Content struct {
	Run      tracker.RunID   // who made it; "" of an input
	Artifact string          // what the run calls it
	Input    tracker.RunID   // id of the input; "" of an artifact
	UsedBy   []tracker.RunID // of an input: the runs that used it with this digest, sorted
	Path     string          // where it lies, as it was recorded
	Kind     string          // as tracker.Artifact.Kind; "" of an input
	SHA256   store.Digest
	Size     int64     // in bytes, -1 = not recorded
	Started  time.Time // of the run, zero = unknown
}

// ID is the node that a content is known by: RUN#ARTIFACT, or the id of the input.
func (c Content) ID() string {
	if c.Input != "" {
		return string(c.Input)
	}
	return artifactID(string(c.Run), c.Artifact)
}

// ContentID is the id of a content, whatever its names: "sha256:" and the digest.
func ContentID(d store.Digest) string { return digestPrefix + string(d) }

// ParseContentID reads what ContentID wrote.
func ParseContentID(id string) (store.Digest, bool) {
	digits, ok := strings.CutPrefix(id, digestPrefix)
	if !ok || len(digits) != maxDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return store.Digest(digits), true
}

// compareContents orders makers before inputs, and those by their start, what has none last, then by id.
func compareContents(a, b Content) int {
	return cmp.Or(
		compareBool(a.Input != "", b.Input != ""),
		compareBool(a.Started.IsZero(), b.Started.IsZero()),
		a.Started.Compare(b.Started),
		strings.Compare(a.ID(), b.ID()),
	)
}

// compareBool orders false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// SortContents orders the makers by the start of their runs, what has none last, then the inputs, ties by id.
func SortContents(list []Content) { slices.SortFunc(list, compareContents) }

// WithContents returns the graph with what runs recorded of their artifacts, so that Find knows their paths and digests.
// Those that have neither are passed over.
func (g *Graph) WithContents(list []Content) *Graph {
	wider := *g
	wider.contents = slices.Clone(list)
	return &wider
}

// RoleContent is the role of an edge from a content, or from a run that made it, to a run that used the same bytes under
// the name of an input. No link says so: the digests do.
const RoleContent tracker.Role = "content"

// WithContent returns the graph with a content as a node of its own, below the runs that made it under any of its names,
// and above all that used it: as an artifact, or as an input with this digest. Its names are all contents of the digest.
func (g *Graph) WithContent(digest store.Digest, names []Content) *Graph {
	id := ContentID(digest)
	nodes := []Node{{ID: id, Kind: KindContent, Digest: string(digest)}}
	edges := g.edges()
	made := map[Edge]bool{}
	for _, c := range names {
		if c.Input == "" {
			made[Edge{From: string(c.Run), Artifact: c.Artifact}] = true
		}
		for _, run := range c.UsedBy {
			nodes = append(nodes, Node{ID: string(run), Kind: KindRun, Missing: true})
			edges = append(edges, Edge{From: id, To: string(run), Artifact: string(c.Input), Role: RoleContent})
		}
	}
	for i, e := range edges {
		if made[Edge{From: e.From, Artifact: e.Artifact}] {
			edges[i].From = id // who used the artifact used the content
		}
	}
	for e := range made {
		nodes = append(nodes, Node{ID: e.From, Kind: KindRun, Missing: true})
		edges = append(edges, Edge{From: e.From, To: id, Artifact: e.Artifact})
	}
	return g.rebuilt(nodes, edges)
}

// WithUses returns the graph with more edges between runs, such as those that digests tell. A run that is not there yet
// becomes a node.
func (g *Graph) WithUses(uses []Edge) *Graph {
	var nodes []Node
	for _, e := range uses {
		nodes = append(nodes, Node{ID: e.From, Kind: KindRun, Missing: true}, Node{ID: e.To, Kind: KindRun, Missing: true})
	}
	return g.rebuilt(nodes, append(g.edges(), uses...))
}
