package render

import (
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// graph is a lineage in JSON; docs/json.md tells of each field.
type graph struct {
	Root         string         `json:"root"`
	Nodes        []graphNode    `json:"nodes"`
	Edges        []graphEdge    `json:"edges"`
	Warnings     []shownWarning `json:"warnings"`
	Completeness *Completeness  `json:"completeness,omitempty"`
}

type graphNode struct {
	ID       string       `json:"id"`
	Kind     lineage.Kind `json:"kind"`
	Name     string       `json:"name"`
	Missing  bool         `json:"missing"`
	Deleted  bool         `json:"deleted"`
	Aliases  []string     `json:"aliases"`
	State    *string      `json:"state"`
	Started  stamp        `json:"started"`
	Ended    stamp        `json:"ended"`
	Run      *string      `json:"run"`
	Artifact *string      `json:"artifact"`
	Path     *string      `json:"path"`
	URI      *string      `json:"uri"`
	Version  *string      `json:"version"`
	Digest   *string      `json:"digest"`
}

type graphEdge struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Artifact *string `json:"artifact"`
	Role     *string `json:"role"`
	Time     stamp   `json:"time"`
}

func newGraph(sub *lineage.Subgraph, c *Completeness) graph {
	doc := graph{Root: sub.Root, Nodes: []graphNode{}, Edges: []graphEdge{}, Warnings: shownWarnings(sub.Warnings), Completeness: c}
	for i := range sub.Nodes {
		doc.Nodes = append(doc.Nodes, newGraphNode(&sub.Nodes[i]))
	}
	for _, e := range sub.Edges {
		doc.Edges = append(doc.Edges, graphEdge{
			From: e.From, To: e.To, Artifact: maybe(e.Artifact), Role: maybe(string(e.Role)), Time: stamp(e.Time),
		})
	}
	return doc
}

func newGraphNode(n *lineage.Node) graphNode {
	doc := graphNode{
		ID: n.ID, Kind: n.Kind, Name: n.Label(), Missing: n.Missing, Deleted: n.Deleted, Aliases: append([]string{}, n.Aliases...), Run: maybe(n.Owner), Artifact: maybe(n.Artifact),
		URI: maybe(n.URI), Version: maybe(n.Version), Digest: maybe(n.Digest),
	}
	if n.Kind == lineage.KindDataset && n.Name != "" {
		doc.Name = n.Name
	}
	if n.Kind == lineage.KindRun && n.Run != nil {
		doc.Name, doc.State = name(n.Run), maybe(string(n.Run.State))
		doc.Started, doc.Ended = stamp(n.Run.Started), stamp(n.Run.Ended)
	}
	if a := n.Record(); a != nil {
		doc.Path, doc.Digest = maybe(a.Path), maybe(digest(a))
	}
	return doc
}

// digest is the checksum of an artifact with the name of its kind.
func digest(a *tracker.Artifact) string {
	if sum := a.SHA256(); sum != "" {
		return "sha256:" + sum
	}
	return ""
}
