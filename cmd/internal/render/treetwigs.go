package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heirloom-ml/heirloom/lineage"
)

// twig is what a row of a tree stands for: a node, or several that are alike, and the arrows that led there.
type twig struct {
	nodes     []string // by time; of equal ones by id
	arrows    []*arrow
	elsewhere bool // its one node, or all of them, are drawn out in another row
}

func alone(id string) *twig { return &twig{nodes: []string{id}} }

// outline says where each node is drawn out, in one direction.
type outline struct {
	*picture
	up     bool
	steps  map[string][]*arrow // from each node onwards, in order of time
	under  map[string]*arrow   // the arrow below which a node is drawn out; nil for the root
	sorts  map[string]int      // equal for nodes that are alike
	blocks []*twig             // from which drawing starts at the margin, the root first
}

// newOutline finds the nearest place for each node, by breadth.
func newOutline(p *picture, sorts map[string]int, up bool) *outline {
	root := p.sub.Root
	out := &outline{picture: p, up: up, steps: p.steps(up), under: map[string]*arrow{root: nil}, sorts: sorts, blocks: []*twig{alone(root)}}
	queue := []string{root}
	for i := 0; i < len(queue); i++ { // grows on the way
		for _, a := range out.steps[queue[i]] {
			next := a.far(up)
			if _, seen := out.under[next]; !seen {
				out.under[next] = a
				queue = append(queue, next)
			}
		}
	}
	return out
}

// goesOn says whether anything hangs on a twig.
func (out *outline) goesOn(t *twig) bool {
	return slices.ContainsFunc(t.nodes, func(id string) bool { return len(out.steps[id]) > 0 })
}

// maxTwigs is from how many rows below one on leaves of a kind are joined even if they are named differently.
const maxTwigs = 25

// twigs lists what hangs on a row, in order of time. Unless all are wanted, many that are alike are one: of one kind and
// stem of name, reached by the same sort of arrow, and linked with the same nodes or with nodes alike.
func (out *outline) twigs(parent *twig, all bool) []*twig {
	list := out.nodesBelow(parent)
	if all {
		return list
	}
	list = out.join(list, func(t *twig) string {
		return fmt.Sprintf("%d %t %s", out.sorts[t.nodes[0]], t.elsewhere, t.label())
	})
	if len(list) <= maxTwigs {
		return list
	}
	return out.join(list, func(t *twig) string {
		if len(t.nodes) > 1 || out.goesOn(t) && !t.elsewhere {
			return ""
		}
		return fmt.Sprintf("%s %t", out.nodes[t.nodes[0]].Kind, t.elsewhere)
	})
}

// nodesBelow lists the nodes behind all nodes of a twig, each as a twig of its own.
func (out *outline) nodesBelow(parent *twig) []*twig {
	var list []*twig
	at := map[string]*twig{}
	for _, id := range parent.nodes {
		for _, a := range out.steps[id] {
			far := a.far(out.up)
			t := at[far]
			if t == nil {
				t = alone(far)
				t.elsewhere = true
				at[far] = t
				list = append(list, t)
			}
			t.arrows = append(t.arrows, a)
			if out.under[far] == a || len(out.steps[far]) == 0 {
				t.elsewhere = false
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *twig) int { return out.byTime(a.nodes[0], b.nodes[0]) })
	return list
}

// join makes one twig of those with an equal key, where they are many, in the place of the first. A key of "" stays alone.
func (out *outline) join(list []*twig, key func(*twig) string) []*twig {
	if len(list) < minAlike {
		return list
	}
	groups, keys := map[string][]*twig{}, make([]string, len(list))
	for i, t := range list {
		if keys[i] = key(t); keys[i] != "" {
			groups[keys[i]] = append(groups[keys[i]], t)
		}
	}
	var joined []*twig
	for i, t := range list {
		group := groups[keys[i]]
		switch {
		case len(group) < minAlike:
			joined = append(joined, t)
		case group[0] == t:
			one := &twig{elsewhere: t.elsewhere}
			for _, member := range group {
				one.nodes = append(one.nodes, member.nodes...)
				one.arrows = append(one.arrows, member.arrows...)
			}
			joined = append(joined, one)
		}
	}
	return joined
}

// label is what the arrows of a twig carry, as arrow.label.
func (t *twig) label() string {
	if len(t.arrows) == 0 {
		return ""
	}
	sum := arrow{role: t.arrows[0].role, made: t.arrows[0].made}
	for _, a := range t.arrows {
		sum.artifacts = append(sum.artifacts, a.artifacts...)
		if a.role != sum.role {
			sum.role = ""
		}
	}
	slices.Sort(sum.artifacts)
	sum.artifacts = slices.Compact(sum.artifacts)
	return sum.label()
}

// one is the node of a twig that has just one, else nil.
func (out *picture) one(t *twig) *lineage.Node {
	if len(t.nodes) > 1 {
		return nil
	}
	return out.nodes[cmp.Or(t.nodes...)]
}
