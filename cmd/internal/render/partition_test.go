package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowClasses refines by looking at all nodes again and again.
func slowClasses(p *partition) [][]int {
	class := slices.Clone(p.class)
	for {
		known, next := palette{}, make([]int, len(class))
		for node := range class {
			var seen []string
			for _, n := range p.near[node] {
				seen = append(seen, fmt.Sprint(n.sort, class[n.node]))
			}
			slices.Sort(seen)
			next[node] = known.color(fmt.Sprint(class[node], seen))
		}
		if len(known) == 1+slices.Max(class) {
			break
		}
		class = next
	}
	byClass := make([][]int, 1+slices.Max(class))
	for node, c := range class {
		byClass[c] = append(byClass[c], node)
	}
	return sortedClasses(byClass)
}

func sortedClasses(classes [][]int) [][]int {
	var list [][]int
	for _, c := range classes {
		if len(c) > 0 {
			list = append(list, slices.Sorted(slices.Values(c)))
		}
	}
	slices.SortFunc(list, slices.Compare[[]int])
	return list
}

func TestPartitionIsTheCoarsest(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := newPartition(2 + r.IntN(20))
		for node := range p.class {
			p.put(node, min(node, r.IntN(2)))
		}
		for range r.IntN(40) {
			from, to, sort := r.IntN(len(p.class)), r.IntN(len(p.class)), 2*r.IntN(2)
			p.join(from, to, sort)
			p.join(to, from, sort+1)
		}
		want := slowClasses(p)
		p.refine()
		if got := sortedClasses(p.classes); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}
