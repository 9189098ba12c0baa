package lineage

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Find is part of Names. Artifacts are found by path and digest as far as WithContents told of them.
func (g *Graph) Find(_ context.Context, fit Fit, text string) ([]string, error) {
	var found []string
	switch fit {
	case FitID:
		if _, ok := g.place[text]; ok {
			found = append(found, text)
		}
	case FitDigest:
		return ContentNodes(g.named(func(c Content) bool { return strings.HasPrefix(string(c.SHA256), text) })), nil
	default:
		for i := range g.nodes {
			if n := &g.nodes[i]; n.fits(fit, text) {
				found = append(found, n.ID)
			}
		}
	}
	if fit == FitPlace {
		for _, c := range g.contents {
			if c.Path == text {
				found = append(found, c.ID())
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// fits reports whether a text names the node in one of the ways between FitID and FitDigest.
func (n *Node) fits(fit Fit, text string) bool {
	if n.Kind == KindRun {
		switch fit {
		case FitName:
			return tracker.RunID(n.ID).Name() == text
		case FitBeginning:
			return strings.HasPrefix(tracker.RunID(n.ID).Name(), text)
		case FitRun:
			return strings.Contains(n.ID, text)
		}
		return false
	}
	named := n.Name
	if n.Version != "" {
		named += "@" + n.Version
	}
	switch fit {
	case FitPlace:
		return n.URI == text || n.Name != "" && named == text
	case FitInput:
		return strings.Contains(n.ID, text)
	case FitDescribed:
		return strings.Contains(named, text) || strings.Contains(n.URI, text)
	}
	return false
}

// named lists the contents that pass a test: those of artifacts, and inputs that were used with a digest.
func (g *Graph) named(test func(Content) bool) []Content {
	var list []Content
	for _, c := range g.contents {
		if c.SHA256 != "" && test(c) {
			list = append(list, c)
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if d, ok := n.digest(); ok && test(Content{SHA256: d}) {
			list = append(list, Content{Input: tracker.RunID(n.ID), Path: n.URI, SHA256: d, Size: -1})
		}
	}
	SortContents(list)
	return list
}

// digest is that of the bytes of an input, if it was used with a whole one.
func (n *Node) digest() (store.Digest, bool) {
	if n.Kind != KindDataset && n.Kind != KindExternal {
		return "", false
	}
	return ReadDigest(n.Digest)
}

// ReadDigest reads a digest as links record it: 64 lower-case hexadecimal digits, with or without "sha256:".
func ReadDigest(text string) (store.Digest, bool) {
	return ParseContentID(digestPrefix + strings.TrimPrefix(text, digestPrefix))
}

// ContentNodes gives the nodes that contents are, sorted: of a digest that has one name that node, else its ContentID.
func ContentNodes(list []Content) []string {
	names := map[store.Digest]map[string]bool{}
	for _, c := range list {
		if names[c.SHA256] == nil {
			names[c.SHA256] = map[string]bool{}
		}
		names[c.SHA256][c.ID()] = true
	}
	var ids []string
	for digest, of := range names {
		if len(of) > 1 {
			ids = append(ids, ContentID(digest))
			continue
		}
		ids = slices.AppendSeq(ids, maps.Keys(of))
	}
	slices.Sort(ids)
	return ids
}

// Similar is part of Names.
func (g *Graph) Similar(_ context.Context, text string) (near []string, known bool, err error) {
	search := NewNearest(text)
	for i := range g.nodes {
		search.See(g.nodes[i].Label())
	}
	return search.List(), len(g.nodes) > 0, nil
}
