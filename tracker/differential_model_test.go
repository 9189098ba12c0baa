package tracker_test

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func runPool() []string {
	return []string{"local://torchx/a", "local://torchx/b-1", "ext exp#1", "s3://bucket/data?x", "~"}
}

func namePool() []string {
	return []string{"model", "mod", "données d'été", "a/b #1", "😀\u2028x"}
}

// generator makes calls, the same for a seed.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 4))} }

func pick[T any](g generator, list ...T) T { return list[g.IntN(len(list))] }

// call is one line of torchx_serve.py, and of record.
func (g generator) call() []any {
	run := pick(g, runPool()...)
	switch g.IntN(3) {
	case 0:
		return []any{"metadata", run, g.object(3)}
	case 1:
		var meta any
		if g.IntN(2) == 0 {
			meta = g.object(2)
		}
		path := pick(g, "/m", "", "s3://b/é", "C:\\x", "relative path", "\x01\n")
		return []any{"artifact", run, pick(g, namePool()...), path, meta}
	}
	if g.IntN(3) == 0 {
		return []any{"source", run, pick(g, runPool()...)}
	}
	return []any{"source", run, pick(g, runPool()...), pick(g, namePool()...)}
}

func (g generator) object(depth int) *pyjson.Object {
	o := &pyjson.Object{}
	for range g.IntN(4) {
		o.Set(pick(g, "lr", "params.x", "naïve 東京", "with space", "😀", "\"\\\n\x7f"), g.value(depth-1))
	}
	return o
}

// value is of any kind that JSON, as Python writes it, can hold.
func (g generator) value(depth int) any {
	kinds := 8
	if depth <= 0 {
		kinds = 6
	}
	switch g.IntN(kinds) {
	case 0:
		return pick[any](g, nil, true, false)
	case 1:
		return pick(g, 0, -1, 1<<53+1, math.MaxInt64, math.MinInt64, int64(g.Uint64()))
	case 2:
		return new(big.Int).Lsh(big.NewInt(g.Int64()), uint(g.IntN(200)))
	case 3:
		return pick(g, 0.1, 1, math.Copysign(0, -1), 1e-5, 1e16, 1e300, 5e-324, math.Inf(1), math.Inf(-1), g.NormFloat64())
	case 4:
		return math.Float64frombits(g.Uint64())
	case 5:
		return g.text()
	case 6:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	}
	return g.object(depth)
}

func (g generator) text() string {
	var text strings.Builder
	for range g.IntN(12) {
		text.WriteRune(pick(g, rune(g.IntN(0x80)), rune(g.IntN(0xd800)), 0x1f600+rune(g.IntN(80)), '\u2028', '\ufeff', '"', '\\'))
	}
	return text.String()
}

// truth is what a root holds after some calls of either side.
type truth struct {
	last  view                       // of metadata and artifacts
	given view                       // all values of each, in order
	links map[string]map[string]bool // "run\x00source" to names, as heirloom keeps them
	files map[string]map[string]bool // the same, as TorchX's text files hold them
	runs  map[string]bool
}

func newTruth() *truth {
	return &truth{view{}, view{}, map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
}

func (f *truth) record(t *testing.T, c []any, byTorchX bool) {
	run := c[1].(string)
	f.runs[run] = true
	set := func(what string, v any) {
		f.last[what] = []string{dump(t, v)}
		f.given.add(what, dump(t, v))
	}
	switch c[0] {
	case "metadata":
		for key, v := range c[2].(*pyjson.Object).All() {
			set(run+" metadata "+key, v)
		}
	case "artifact":
		set(run+" artifact "+c[2].(string), []any{c[3], c[4]})
	case "source":
		f.link(run+"\x00"+c[2].(string), append(c[3:], "")[0].(string), byTorchX)
	}
}

// link knows how TorchX 0.7 writes: the file holds the last name only, the
// defect "links overwritten".
func (f *truth) link(edge, name string, byTorchX bool) {
	if f.links[edge] == nil {
		f.links[edge] = map[string]bool{}
	}
	if f.files[edge] == nil || byTorchX {
		f.files[edge] = map[string]bool{}
	}
	f.files[edge][name] = true
	if !byTorchX {
		f.links[edge][name] = true
	}
}

// view is what heirloom must show: links, and what the text files say beside.
func (f *truth) view(t *testing.T) view {
	v := maps.Clone(f.last)
	edges := map[string][]string{}
	for edge, names := range f.files {
		all := maps.Clone(names)
		maps.Copy(all, f.links[edge])
		edges[edge] = slices.Sorted(maps.Keys(all))
	}
	f.addEdges(t, v, edges)
	return v
}

// torchx is what TorchX must show: the text files, and of each the names alone
// if there is one, the defect "nameless link hidden".
func (f *truth) torchx(t *testing.T) view {
	v := maps.Clone(f.last)
	edges := map[string][]string{}
	for edge, names := range f.files {
		edges[edge] = slices.Sorted(maps.Keys(names))
		if len(names) > 1 && names[""] {
			edges[edge] = edges[edge][1:]
		}
	}
	f.addEdges(t, v, edges)
	return v
}

func (f *truth) addEdges(t *testing.T, v view, edges map[string][]string) {
	children := map[string][]string{}
	for edge, names := range edges {
		run, source, _ := strings.Cut(edge, "\x00")
		children[source] = append(children[source], run)
		for _, name := range names {
			v.add(run+" sources", source+"#"+name)
			if slices.Contains(namePool()[:2], name) {
				v.add(run+" sources named "+name, source+"#"+name)
			}
		}
	}
	for what := range v {
		if strings.Contains(what, " sources") {
			slices.Sort(v[what])
		}
	}
	v.add("run ids", dump(t, anyTexts(slices.Sorted(maps.Keys(f.runs)))))
	for _, run := range runPool() {
		slices.Sort(children[run])
		v.add(run+" children", dump(t, anyTexts(children[run])))
	}
}
