package demo

import (
	"math"
	"math/rand/v2"

	"github.com/heirloom-ml/heirloom/testdata/digits"
)

const (
	inputs  = digits.Side * digits.Side
	classes = digits.Classes
)

// network has one hidden layer of rectified linear units and ends in a softmax.
type network struct {
	hidden int
	w1     []float32 // [hidden][inputs]
	b1     []float32 // [hidden]
	w2     []float32 // [classes][hidden]
	b2     []float32 // [classes]
}

func newNetwork(hidden int) *network {
	return &network{
		hidden: hidden,
		w1:     make([]float32, hidden*inputs), b1: make([]float32, hidden),
		w2: make([]float32, classes*hidden), b2: make([]float32, classes),
	}
}

// randomize draws the weights with a spread that keeps the signal's size from
// layer to layer (He et al. 2015).
func (n *network) randomize(r *rand.Rand) {
	draw := func(w []float32, fanIn int) {
		spread := math.Sqrt(2 / float64(fanIn))
		for i := range w {
			w[i] = float32(r.NormFloat64() * spread)
		}
	}
	draw(n.w1, inputs)
	draw(n.w2, n.hidden)
}

// parameters lists the weights in a fixed order.
func (n *network) parameters() [][]float32 {
	return [][]float32{n.w1, n.b1, n.w2, n.b2}
}

// activation is what one image causes in the network.
type activation struct {
	hidden        []float32
	probabilities [classes]float32
}

// forward computes the probabilities of the classes. image has inputs values.
func (n *network) forward(image []float32, a *activation) {
	for h := range n.hidden {
		a.hidden[h] = max(n.b1[h]+dot(n.w1[h*inputs:(h+1)*inputs], image), 0)
	}
	var logits [classes]float32
	top := float32(math.Inf(-1))
	for c := range classes {
		logits[c] = n.b2[c] + dot(n.w2[c*n.hidden:(c+1)*n.hidden], a.hidden)
		top = max(top, logits[c])
	}
	var sum float32
	for c, logit := range logits {
		a.probabilities[c] = float32(math.Exp(float64(logit - top)))
		sum += a.probabilities[c]
	}
	for c := range a.probabilities {
		a.probabilities[c] /= sum
	}
}

// backward adds to gradient what the loss on one image asks of the weights. a
// is what forward left; slope is space for hidden values.
func (n *network) backward(image []float32, label int, a *activation, gradient *network, slope []float32) {
	clear(slope)
	for c := range classes {
		d := a.probabilities[c]
		if c == label {
			d--
		}
		gradient.b2[c] += d
		axpy(d, a.hidden, gradient.w2[c*n.hidden:(c+1)*n.hidden])
		axpy(d, n.w2[c*n.hidden:(c+1)*n.hidden], slope)
	}
	for h := range n.hidden {
		if a.hidden[h] > 0 {
			gradient.b1[h] += slope[h]
			axpy(slope[h], image, gradient.w1[h*inputs:(h+1)*inputs])
		}
	}
}

// score is how well a network does on a set of images.
type score struct {
	loss     float64 // mean cross-entropy, in nats
	accuracy float64 // share of images whose most probable class is their label
}

// score evaluates n, and calls each for every image unless it is nil.
func (n *network) score(set *images, each func(label, predicted int)) score {
	a := activation{hidden: make([]float32, n.hidden)}
	var s score
	for i := range set.len() {
		n.forward(set.pixels(i), &a)
		label := set.labels[i]
		s.loss -= math.Log(math.Max(float64(a.probabilities[label]), 1e-12))
		predicted := a.class()
		if predicted == label {
			s.accuracy++
		}
		if each != nil {
			each(label, predicted)
		}
	}
	s.loss /= float64(set.len())
	s.accuracy /= float64(set.len())
	return s
}

// class is the most probable class, the lowest of equals.
func (a *activation) class() int {
	best := 0
	for c, p := range a.probabilities {
		if p > a.probabilities[best] {
			best = c
		}
	}
	return best
}

// dot converts each product, which forbids the fused operation that some
// processors have and others lack.
//
// It and axpy are nearly all of the arithmetic; watched, each float would be a call.
//
//go:norace
func dot(a, b []float32) float32 {
	var sum float32
	b = b[:len(a)]
	for i, x := range a {
		sum += float32(x * b[i])
	}
	return sum
}

// axpy adds f times x to y.
//
//go:norace
func axpy(f float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float32(f * v)
	}
}
