package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// closure lists the rows that a graph yields up to a depth, 0 = all.
func closure(g *graph, depth int) (rows []string) {
	if depth == 0 {
		depth = len(g.ids) + 1
	}
	for n := range g.ids {
		g.walk(int32(n), depth, func(depth int, level []int32) bool {
			for _, p := range level {
				rows = append(rows, fmt.Sprint(g.ids[n], " ", depth, " ", g.ids[p]))
			}
			return true
		})
	}
	return rows
}

// slow computes the same by distances of all pairs.
func slow(edges [][2]string, ids []string) (rows []string) {
	const far = 1 << 20
	distance := map[[2]string]int{}
	at := func(a, b string) int {
		if d, ok := distance[[2]string{a, b}]; ok {
			return d
		}
		return far
	}
	for _, e := range edges {
		distance[e] = 1
	}
	for _, via := range ids {
		for _, a := range ids {
			for _, b := range ids {
				if d := at(a, via) + at(via, b); d < at(a, b) {
					distance[[2]string{a, b}] = d
				}
			}
		}
	}
	for _, to := range ids {
		var list []string
		for _, from := range ids {
			if d := at(from, to); d < far {
				list = append(list, fmt.Sprintf("%s %d %s", to, d, from))
			}
		}
		slices.Sort(list) // depths have one digit
		rows = append(rows, list...)
	}
	return rows
}

func TestClosureOfRandomGraphs(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := newGraph()
		var edges [][2]string
		for range 14 {
			e := [2]string{fmt.Sprintf("n%d", random.IntN(9)), fmt.Sprintf("n%d", random.IntN(9))}
			edges = append(edges, e)
			g.add(e[0], e[1])
		}
		g.sort()
		want := slow(edges, g.ids)
		if got := closure(g, 0); !slices.Equal(got, want) {
			t.Fatalf("seed %d: edges %v\nclosure %q\nwant    %q", seed, edges, got, want)
		}
		clear(g.seen)
		checkDepth(t, g, want)
	}
}

// checkDepth holds depthWithin against the number of rows at each depth.
func checkDepth(t *testing.T, g *graph, all []string) {
	t.Helper()
	for limit := 1; limit <= len(all)+1; limit++ {
		depth := g.depthWithin(limit)
		rows := len(closure(g, depth))
		clear(g.seen)
		more := len(closure(g, depth+1))
		clear(g.seen)
		switch {
		case depth == 0 && len(all) > limit, depth > 1 && rows > limit:
			t.Errorf("limit %d: %d rows at depth %d", limit, rows, depth)
		case depth > 0 && more <= limit:
			t.Errorf("limit %d: depth %d, though at the next there are %d rows", limit, depth, more)
		}
	}
}

// A chain has a closure that grows with its square.
func TestDepthOfLongChain(t *testing.T) {
	g := newGraph()
	const n = 200_000
	for i := range n {
		g.add(fmt.Sprintf("n%07d", i), fmt.Sprintf("n%07d", i+1))
	}
	g.sort()
	if got := g.depthWithin(1_000_000); got != 5 {
		t.Errorf("depth %d, want 5", got)
	}
}
