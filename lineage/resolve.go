package lineage

import (
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Resolve turns what a person typed into the id of a node, to ask Closure about. It understands, in this order:
//
//	a full id of a run or an input
//	name@version of an input
//	a URI or an absolute path of an input, in any spelling that store.CanonicalURI knows
//	NODE#ARTIFACT, with any of these forms for NODE
//	the last part of a run id, or else any part of an id that no other id has; runs before inputs
//
// Whether NODE has such an artifact is seen only when its records are read: see Subgraph.Attach.
// An unknown text is an error of kind ErrNotExist that names what is near; one that could be several nodes is an
// *tracker.AmbiguousError; an empty one has kind ErrInvalid.
func (g *Graph) Resolve(text string) (string, error) { return g.ResolveIn(text, "") }

// ResolveIn is Resolve where a relative path of a file is meant below workdir.
func (g *Graph) ResolveIn(text, workdir string) (string, error) {
	if text == "" {
		return "", &store.Error{Op: "find", Kind: store.ErrInvalid, Err: errors.New("the name of a node is empty")}
	}
	if id, err := g.exact(text, workdir); id != "" || err != nil {
		return id, err
	}
	for owner, artifact := range splitArtifact(text) {
		id, err := g.exact(owner, workdir)
		if err != nil {
			return "", err
		}
		if id != "" {
			return artifactID(id, artifact), nil
		}
	}
	if id, err := g.part(text); id != "" || err != nil {
		return id, err
	}
	for owner, artifact := range splitArtifact(text) {
		id, err := g.part(owner)
		if err != nil {
			return "", err
		}
		if id != "" {
			return artifactID(id, artifact), nil
		}
	}
	return "", notFound(text, g.nothing(text))
}

// exact finds the node that text names in full, "" if there is none.
func (g *Graph) exact(text, workdir string) (string, error) {
	if _, ok := g.place[text]; ok {
		return text, nil
	}
	uri, err := store.CanonicalURI(text, workdir)
	if err != nil || workdir == "" && !isAbsolute(text) {
		uri = text
	}
	if _, ok := g.place[uri]; ok {
		return uri, nil
	}
	return only(text, g.ids(func(n *Node) bool {
		return n.URI == uri || n.Name != "" && n.Name+"@"+n.Version == text
	}))
}

// isAbsolute reports whether text means the same place whatever the working directory.
func isAbsolute(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return strings.HasPrefix(text, "/") || ok && storageSchemes[strings.ToLower(scheme)]
}

// part finds the node of which text is a part that no other has, "" if there is none: a run as tracker.Match does, or
// else an input likewise.
func (g *Graph) part(text string) (string, error) {
	runs := g.ids(func(n *Node) bool { return n.Kind == KindRun })
	id, err := tracker.Match(runs, text)
	if !errors.Is(err, store.ErrNotExist) {
		return string(id), err
	}
	return only(text, g.ids(func(n *Node) bool {
		return n.Kind != KindRun && (strings.Contains(n.ID, text) || strings.Contains(n.Label(), text))
	}))
}

// ids lists the nodes that pass a test, sorted.
func (g *Graph) ids(test func(n *Node) bool) []tracker.RunID {
	var list []tracker.RunID
	for i := range g.nodes {
		if test(&g.nodes[i]) {
			list = append(list, tracker.RunID(g.nodes[i].ID))
		}
	}
	return list
}

// only returns the one id of a list, "" if it is empty.
func only(text string, ids []tracker.RunID) (string, error) {
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return string(ids[0]), nil
	}
	return "", &tracker.AmbiguousError{Text: text, Candidates: ids}
}

// nothing explains that no node matches, and names those that are near.
func (g *Graph) nothing(text string) error {
	owner, _, _ := strings.Cut(text, "#")
	near := g.near(owner)
	if name, _, versioned := strings.Cut(owner, "@"); versioned && len(near) == 0 {
		near = g.near(name)
	}
	switch {
	case len(g.nodes) == 0:
		return errors.New("the root has no runs")
	case len(near) == 0:
		return errors.New("no run or input has this in its id")
	}
	return errors.New("no run or input has this in its id; near are " + strings.Join(near, ", "))
}
