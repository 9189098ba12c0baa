package catalog

import (
	"math"
	"slices"
	"strings"
)

// graph is the edges by number of node, for the closure.
type graph struct {
	number  map[string]int32
	ids     []string
	parents [][]int32 // of each node, once sorted without doubles
	seen    []int32   // of each node the last one from which a walk came to it, plus one
}

func newGraph() *graph { return &graph{number: map[string]int32{}} }

// node gives a node its number.
func (g *graph) node(id string) int32 {
	n, ok := g.number[id]
	if !ok {
		n = int32(len(g.ids))
		g.number[id] = n
		g.ids, g.parents = append(g.ids, id), append(g.parents, nil)
	}
	return n
}

// add adds an edge.
func (g *graph) add(source, target string) {
	from, to := g.node(source), g.node(target)
	g.parents[to] = append(g.parents[to], from)
}

// sort numbers the nodes in the order of their ids. Nothing is added after it.
func (g *graph) sort() {
	order := make([]int32, len(g.ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(g.ids[a], g.ids[b]) })
	rank := make([]int32, len(order))
	ids, parents := make([]string, len(order)), make([][]int32, len(order))
	for at, n := range order {
		rank[n] = int32(at)
		ids[at] = g.ids[n]
	}
	for n, list := range g.parents {
		for i, p := range list {
			list[i] = rank[p]
		}
		slices.Sort(list)
		parents[rank[n]] = slices.Compact(list)
	}
	g.ids, g.parents, g.number = ids, parents, nil
	g.seen = make([]int32, len(ids))
}

// walk calls visit with the ancestors of n at each depth from 1 to most, sorted, until it is false. A level is valid
// during the call.
func (g *graph) walk(n int32, most int, visit func(depth int, level []int32) bool) {
	level := []int32{n}
	for depth := 1; depth <= most; depth++ {
		var next []int32
		for _, at := range level {
			for _, p := range g.parents[at] {
				if g.seen[p] != n+1 {
					g.seen[p] = n + 1
					next = append(next, p)
				}
			}
		}
		if len(next) == 0 {
			return
		}
		slices.Sort(next)
		if !visit(depth, next) {
			return
		}
		level = next
	}
}

// depthWithin is the greatest depth at which the closure has no more than limit rows, at least 1; 0 = it has no more
// at any depth. What it looks at is little more than the limit, however large the closure is.
func (g *graph) depthWithin(limit int) int {
	var rows []int // at each depth, from 1
	total, most := 0, math.MaxInt
	for n := range g.ids {
		g.walk(int32(n), most, func(depth int, level []int32) bool {
			if depth > len(rows) {
				rows = append(rows, 0)
			}
			rows[depth-1] += len(level)
			total += len(level)
			for total > limit && len(rows) > 1 {
				total -= rows[len(rows)-1]
				rows = rows[:len(rows)-1]
				most = len(rows)
			}
			return depth <= most
		})
	}
	clear(g.seen)
	if most == math.MaxInt {
		return 0
	}
	return most
}
