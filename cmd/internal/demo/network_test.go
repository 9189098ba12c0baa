package demo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/testdata/digits"
)

// TestGradient compares each derivative with the change of the loss that a
// small change of the weight makes.
func TestGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNetwork(5)
	n.randomize(r)
	image := make([]float32, inputs)
	for i := range image {
		image[i] = r.Float32()
	}
	const label, step = 3, 1e-2
	a := activation{hidden: make([]float32, n.hidden)}
	gradient := newNetwork(n.hidden)
	n.forward(image, &a)
	n.backward(image, label, &a, gradient, make([]float32, n.hidden))
	loss := func() float64 {
		n.forward(image, &a)
		return -math.Log(float64(a.probabilities[label]))
	}
	for p, weights := range n.parameters() {
		for i := range weights {
			kept := weights[i]
			weights[i] = kept + step
			up := loss()
			weights[i] = kept - step
			down := loss()
			weights[i] = kept
			want, got := (up-down)/(2*step), float64(gradient.parameters()[p][i])
			if math.Abs(got-want) > 0.02*math.Max(1, math.Abs(want)) {
				t.Errorf("parameter %d[%d]: gradient %v, loss changes by %v", p, i, got, want)
			}
		}
	}
}

func TestProbabilitiesOfLargeSums(t *testing.T) {
	n := newNetwork(1)
	n.b2[4] = 1e4
	a := activation{hidden: make([]float32, 1)}
	n.forward(make([]float32, inputs), &a)
	if a.probabilities[4] != 1 || a.class() != 4 {
		t.Errorf("probabilities %v", a.probabilities)
	}
}

// learn trains on the digits themselves, without a store.
func learn(t *testing.T, epochs int) (*network, map[dataset.Name]*images) {
	t.Helper()
	all, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	splits := make(map[dataset.Name]*images)
	for name, rows := range divide(all, *steps()["prepare"].(*PrepareOptions)) {
		set := &images{values: make([]float32, len(rows)*inputs), labels: make([]int, len(rows))}
		for c, column := range digitTable(all, rows)[1:] {
			if err := set.fill(c, column.Values.([]int32)); err != nil {
				t.Fatal(err)
			}
		}
		splits[name] = set
	}
	n := newNetwork(32)
	n.randomize(rand.New(rand.NewPCG(seed, 0)))
	o := newOptimizer(n, 0.05, 32, rand.New(rand.NewPCG(seed, 1)))
	for range epochs {
		o.epoch(splits[dataset.Train])
	}
	return n, splits
}

func TestNetworkLearnsInFewEpochs(t *testing.T) {
	n, splits := learn(t, 6)
	if s := n.score(splits[dataset.Val], nil); s.accuracy < 0.93 {
		t.Errorf("after 6 epochs the validation accuracy is %.4f", s.accuracy)
	}
	again, _ := learn(t, 6)
	for p, weights := range n.parameters() {
		if !slices.Equal(weights, again.parameters()[p]) {
			t.Errorf("parameter %d differs when trained again", p)
		}
	}
}

func TestDivideIsStratifiedAndWhole(t *testing.T) {
	all, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	opts := PrepareOptions{Val: 0.2, Test: 0.1, Seed: 3}
	splits := divide(all, opts)
	seen := make([]bool, len(all))
	for name, fraction := range map[dataset.Name]float64{dataset.Train: 0.7, dataset.Val: 0.2, dataset.Test: 0.1} {
		var perLabel [classes]int
		for _, row := range splits[name] {
			if seen[row] {
				t.Fatalf("row %d is in two splits", row)
			}
			seen[row] = true
			perLabel[all[row].Label]++
		}
		for label, n := range perLabel {
			if want := fraction * 180; math.Abs(float64(n)-want) > 5 {
				t.Errorf("%s holds %d of digit %d, want about %.0f", name, n, label, want)
			}
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("row %d is in no split", i)
	}
	if other := divide(all, opts); !slices.Equal(other[dataset.Train], splits[dataset.Train]) {
		t.Error("the same seed draws another split")
	}
	opts.Seed++
	if other := divide(all, opts); slices.Equal(other[dataset.Train], splits[dataset.Train]) {
		t.Error("another seed draws the same split")
	}
}

func TestShift(t *testing.T) {
	image := make([]float32, inputs)
	image[3*digits.Side+5], image[0] = 1, 2
	for direction, want := range []int{2*digits.Side + 5, 4*digits.Side + 5, 3*digits.Side + 4, 3*digits.Side + 6} {
		out := make([]float32, inputs)
		shift(out, image, direction)
		if out[want] != 1 {
			t.Errorf("direction %d: %v", direction, out)
		}
		corner := map[int]int{1: digits.Side, 3: 1}[direction]
		if lost := corner == 0; lost == slices.Contains(out, 2) {
			t.Errorf("direction %d: the corner went wrong: %v", direction, out)
		}
	}
}
