package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// minAlike is from how many on nodes that are alike stand together.
const minAlike = 5

// alike groups the nodes: those of one kind and name that have their links to the same nodes, or to nodes that are alike
// themselves, stand together where they are many; all others alone. Groups are in order of their first id, members in
// order of time.
func (p *picture) alike() [][]string {
	ids := make([]string, len(p.sub.Nodes))
	place, first := map[string]int{}, palette{}
	part := newPartition(len(ids))
	for i := range p.sub.Nodes {
		n := &p.sub.Nodes[i]
		ids[i], place[n.ID] = n.ID, i
		key := fmt.Sprintf("%s %t %s", n.Kind, n.Missing, p.stem(n.ID))
		if n.ID == p.sub.Root {
			key = "" // it is like nothing else
		}
		part.put(i, first.color(key))
	}
	sorts := palette{}
	for _, a := range p.arrows {
		sort := 2 * sorts.color(a.label())
		part.join(place[a.from], place[a.to], sort)
		part.join(place[a.to], place[a.from], sort+1)
	}
	part.refine()
	for part.singleOut(minAlike) {
		part.refine()
	}
	var list [][]string
	for _, class := range part.classes {
		var members []string
		for _, i := range class {
			members = append(members, ids[i])
		}
		if len(members) > 0 {
			slices.Sort(members)
			list = append(list, members)
		}
	}
	slices.SortFunc(list, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	for _, members := range list {
		slices.SortFunc(members, p.byTime)
	}
	return list
}

// palette gives each key a number.
type palette map[string]int

func (p palette) color(key string) int {
	c, ok := p[key]
	if !ok {
		c = len(p)
		p[key] = c
	}
	return c
}

// stem is what the name of a node has in common with others of its kind: without the random end of a run id and numbers
// at the end of a name, without the version of a dataset, without the last part of a URI but for what that begins with.
func (p *picture) stem(id string) string {
	n := p.nodes[id]
	name := label(n)
	switch n.Kind {
	case lineage.KindDataset:
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			return name[:at+1]
		}
	case lineage.KindRun:
		if dash := strings.LastIndexByte(name, '-'); dash > 0 {
			name = name[:dash+1]
		}
	case lineage.KindArtifact:
		return name
	}
	stem := strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("-_.", r) })
	if n.Kind == lineage.KindExternal && stem == name {
		stem = stem[:strings.LastIndexAny(stem, "/:")+1]
	}
	if stem == "" {
		return name
	}
	return name[:min(len(name), len(stem)+separator(name[len(stem):]))]
}

// separator is the length of what joins a name and a number.
func separator(rest string) int {
	if rest != "" && strings.ContainsRune("-_.", rune(rest[0])) {
		return 1
	}
	return 0
}

// kinds are the words for several nodes of a kind.
var kinds = map[lineage.Kind]string{
	lineage.KindRun:      "run",
	lineage.KindArtifact: "artifact",
	lineage.KindDataset:  "dataset",
	lineage.KindExternal: "input",
}

// kindred names nodes that are alike, sanitised: "12 runs like train-…".
func (p *picture) kindred(members []string) string {
	first := p.stem(members[0])
	head := count(len(members), kinds[p.nodes[members[0]].Kind])
	for _, id := range members[1:] {
		if p.stem(id) != first {
			return head
		}
	}
	return head + " like " + fitText(Sanitize(first), 160, nameText) + "…"
}

// tally counts the states of several runs: "10 SUCCEEDED, 2 FAILED". It is empty for what has no states.
func (p *picture) tally(members []string) string {
	counts := map[string]int{}
	for _, id := range members {
		n := p.nodes[id]
		if n.Kind == lineage.KindRun {
			counts[cmp.Or(state(n), string(tracker.Unknown))]++
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(-cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", counts[word], word)
	}
	return strings.Join(words, ", ")
}
