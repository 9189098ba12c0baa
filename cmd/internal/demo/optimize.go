package demo

import "math/rand/v2"

// optimizer is stochastic gradient descent with momentum on mini-batches.
type optimizer struct {
	net      *network
	gradient *network
	velocity *network
	a        activation
	slope    []float32
	rate     float32
	momentum float32
	batch    int // images
	rand     *rand.Rand
}

func newOptimizer(net *network, rate float64, batch int, r *rand.Rand) *optimizer {
	return &optimizer{
		net: net, gradient: newNetwork(net.hidden), velocity: newNetwork(net.hidden),
		a:     activation{hidden: make([]float32, net.hidden)},
		slope: make([]float32, net.hidden),
		rate:  float32(rate), momentum: 0.9, batch: batch, rand: r,
	}
}

// epoch shows every image once, in random order.
func (o *optimizer) epoch(set *images) {
	order := o.rand.Perm(set.len())
	for start := 0; start < len(order); start += o.batch {
		batch := order[start:min(start+o.batch, len(order))]
		for _, w := range o.gradient.parameters() {
			clear(w)
		}
		for _, i := range batch {
			o.net.forward(set.pixels(i), &o.a)
			o.net.backward(set.pixels(i), set.labels[i], &o.a, o.gradient, o.slope)
		}
		o.step(len(batch))
	}
}

// step moves the weights along the mean gradient of so many images.
//
//go:norace
func (o *optimizer) step(images int) {
	scale := o.rate / float32(images)
	weights, velocity := o.net.parameters(), o.velocity.parameters()
	for p, gradient := range o.gradient.parameters() {
		v, w := velocity[p], weights[p]
		for i, g := range gradient {
			v[i] = float32(o.momentum*v[i]) - float32(scale*g)
			w[i] += v[i]
		}
	}
}
