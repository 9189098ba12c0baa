package lineage

import "context"

// Resolve is what a Resolver without aliases finds in the graph.
func (g *Graph) Resolve(text string) (string, error) { return g.ResolveIn(text, "") }

// ResolveIn is Resolve where a relative path of a file is meant below workdir.
func (g *Graph) ResolveIn(text, workdir string) (string, error) {
	r := &Resolver{Names: g, Workdir: workdir}
	return r.Resolve(context.Background(), text) // a graph waits for nothing
}
