package lineage

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// DefaultPaths is how many ways Paths lists unless told otherwise.
const DefaultPaths = 100

// maxSteps bounds the search for ways that are not the shortest, which a graph with cycles may have without number.
const maxSteps = 1_000_000

// PathQuery says which ways from one node to another are wanted. The zero value is the shortest.
type PathQuery struct {
	Every    bool   // every way that meets no node twice; else the shortest
	Limit    int    // list at most so many, <= 0 = DefaultPaths
	Depth    int    // of at most so many edges, <= 0 = no limit
	Artifact string // follow only edges of this artifact name; "" = all
}

// Paths is the ways from one node down to another.
type Paths struct {
	From, To string
	// Ways are nodes from From to To: the shortest first, of equally long ones in order of their ids.
	Ways [][]string
	// Shortest is how many shortest ways there are, listed or not. It is never nil.
	Shortest *big.Int
	// More: there are further ways that were asked for and are not listed; Stopped: there may be, but the search ended
	// after so much work that it was given up.
	More, Stopped bool
	// Sub is all nodes and edges on the ways: on those listed, and on every shortest one. Its root is From. Where there
	// is no way it is From and To alone.
	Sub *Subgraph
}

// NoPaths is the answer where no way leads from one node to another.
func NoPaths(from, to string) *Paths {
	return &Paths{From: from, To: to, Shortest: new(big.Int), Sub: &Subgraph{Root: from, Query: Query{Down: true}}}
}

// Paths finds the ways down from one node to another. Both may be RUN#ARTIFACT. An id that is no node is an error of
// kind ErrNotExist.
func (g *Graph) Paths(from, to string, q PathQuery) (*Paths, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultPaths
	}
	v, start, err := g.locate(from)
	if err != nil {
		return nil, err
	}
	target, end, err := g.locate(to)
	if err != nil {
		return nil, err
	}
	v.only = q.Artifact
	last := noNode // behind end, where To is an artifact that From is not
	if end == target.artifactNode() && to != from {
		last, end = end, target.owner
	}
	s := &pathSearch{view: v, q: q, start: start, end: end, paths: &Paths{From: from, To: to, Shortest: new(big.Int)}}
	s.run()
	return s.finish(last != noNode, target)
}

// pathSearch is one search.
type pathSearch struct {
	view
	q          PathQuery
	start, end int
	paths      *Paths
	toEnd      map[int]int // least number of edges to end, of all nodes above it
	ways       [][]int
	on         map[[2]int]bool // pairs of neighbours on the shortest ways
}

func (s *pathSearch) run() {
	s.toEnd = s.reach(s.end, 0, true)
	least, ok := s.toEnd[s.start]
	if !ok || s.q.Depth > 0 && least > s.q.Depth {
		return
	}
	s.shortest()
	steps := 0
	for length := least; length >= 0; {
		next := s.ofLength(length, &steps)
		if !s.q.Every || s.paths.More || s.paths.Stopped || s.q.Depth > 0 && next > s.q.Depth {
			return
		}
		length = next
	}
}

// shortest counts the shortest ways and notes what lies on them.
func (s *pathSearch) shortest() {
	s.on = map[[2]int]bool{}
	count := map[int]*big.Int{s.start: big.NewInt(1)}
	level := []int{s.start}
	for left := s.toEnd[s.start]; left > 0; left-- {
		var next []int
		for _, at := range level {
			for _, to := range s.below(at) {
				if d, ok := s.toEnd[to]; !ok || d != left-1 {
					continue
				}
				s.on[[2]int{at, to}] = true
				if count[to] == nil {
					count[to] = new(big.Int)
					next = append(next, to)
				}
				count[to].Add(count[to], count[at])
			}
		}
		level = next
	}
	s.paths.Shortest.Set(count[s.end])
}

// below lists the nodes one edge down, each once, in order of id.
func (s *pathSearch) below(at int) []int {
	var list []int
	for to := range s.neighbours(at, false) {
		list = append(list, to)
	}
	slices.SortFunc(list, func(a, b int) int { return strings.Compare(s.id(a), s.id(b)) })
	return slices.Compact(list)
}

// frame is a node on the way at hand, and what is left to be tried below it.
type frame struct {
	at   int
	left []int
}

// ofLength lists the ways of just that many edges, in depth, so that memory grows with the length alone. It returns the
// least length that any longer way may have, less than 0 if there is none.
func (s *pathSearch) ofLength(length int, steps *int) (next int) {
	next = -1
	stack := []frame{{s.start, s.below(s.start)}}
	met := map[int]bool{s.start: true}
	if s.start == s.end {
		s.found([]frame{{at: s.start}})
		return next
	}
	for len(stack) > 0 && !s.paths.More && !s.paths.Stopped {
		top := &stack[len(stack)-1]
		if len(top.left) == 0 {
			delete(met, top.at)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.left[0]
		top.left = top.left[1:]
		rest, leads := s.toEnd[to]
		switch whole := len(stack) + rest; {
		case !leads || met[to]:
			continue
		case whole > length:
			if next < 0 || whole < next {
				next = whole
			}
			continue
		}
		if *steps++; *steps > maxSteps {
			s.paths.Stopped = true
		}
		switch {
		case to != s.end:
			met[to] = true
			stack = append(stack, frame{to, s.below(to)})
		case len(stack) == length:
			s.found(append(stack[:len(stack):len(stack)], frame{at: to}))
		}
	}
	return next
}

// found lists a way, unless there are enough.
func (s *pathSearch) found(stack []frame) {
	if len(s.ways) == s.q.Limit {
		s.paths.More = true
		return
	}
	way := make([]int, len(stack))
	for i, f := range stack {
		way[i] = f.at
	}
	s.ways = append(s.ways, way)
}

// finish writes what was found with ids, and with the artifact at the end, if To is one.
func (s *pathSearch) finish(toArtifact bool, target view) (*Paths, error) {
	p := s.paths
	nodes, pairs := map[string]bool{p.From: true, p.To: true}, map[[2]string]bool{}
	for pair := range s.on {
		nodes[s.id(pair[0])], nodes[s.id(pair[1])] = true, true
		pairs[[2]string{s.id(pair[0]), s.id(pair[1])}] = true
	}
	for _, way := range s.ways {
		ids := make([]string, len(way), len(way)+1)
		for i, at := range way {
			ids[i] = s.id(at)
			nodes[ids[i]] = true
			if i > 0 {
				pairs[[2]string{ids[i-1], ids[i]}] = true
			}
		}
		if toArtifact {
			ids = append(ids, p.To)
		}
		p.Ways = append(p.Ways, ids)
	}
	p.Sub = &Subgraph{Root: p.From, Query: Query{Down: true, Artifact: s.q.Artifact, Depth: max(s.q.Depth, 0)}, Warnings: s.g.Warnings()}
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		at, err := s.g.Node(id)
		if err != nil {
			return nil, err
		}
		p.Sub.Nodes = append(p.Sub.Nodes, at)
	}
	p.Sub.Edges = s.edgesOf(pairs)
	if toArtifact && len(p.Ways) > 0 {
		p.Sub.Edges = append(p.Sub.Edges, Edge{From: target.id(target.owner), To: p.To, Artifact: target.artifact})
		slices.SortFunc(p.Sub.Edges, compareEdges)
	}
	return p, nil
}

// edgesOf lists all edges between pairs of neighbours.
func (s *pathSearch) edgesOf(pairs map[[2]string]bool) []Edge {
	var list []Edge
	seen := map[string]bool{}
	for pair := range pairs {
		if seen[pair[0]] {
			continue
		}
		seen[pair[0]] = true
		at := s.artifactNode()
		if place, ok := s.g.place[pair[0]]; ok {
			at = place
		}
		for a := range s.leaving(at) {
			if e := s.edge(a); pairs[[2]string{e.From, e.To}] {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, compareEdges)
	return list
}

// Bound says in a sentence what the list of ways leaves out, "" if nothing.
func (p *Paths) Bound() string {
	switch {
	case p.Stopped:
		return fmt.Sprintf("the search ended after %d steps: there may be more ways than these %d", maxSteps, len(p.Ways))
	case p.More:
		return fmt.Sprintf("there are more ways than these %d", len(p.Ways))
	}
	return ""
}
