package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/heirloom-ml/heirloom/store"
)

// TrainOptions are the flags of the step train.
type TrainOptions struct {
	Train, Val   string // splits: keys or URLs in the store
	Hidden       int    // units of the hidden layer
	LearningRate float64
	Epochs       int
	Batch        int // images
	Seed         uint64
}

// Train trains a network from scratch.
func Train(ctx context.Context, env Env, opts TrainOptions) error {
	if opts.Hidden < 1 || opts.Hidden > 1<<16 {
		return invalid("a hidden layer of %d units", opts.Hidden)
	}
	if err := checkPlan(opts.Epochs, opts.Batch, opts.LearningRate); err != nil {
		return err
	}
	net := newNetwork(opts.Hidden)
	net.randomize(rand.New(rand.NewPCG(opts.Seed, 0)))
	return env.fit(ctx, net, plan{
		train: opts.Train, val: opts.Val, epochs: opts.Epochs, batch: opts.Batch, rate: opts.LearningRate, seed: opts.Seed,
	})
}

func checkPlan(epochs, batch int, rate float64) error {
	switch {
	case epochs < 1 || epochs > 9999:
		return invalid("%d epochs", epochs)
	case batch < 1:
		return invalid("batches of %d images", batch)
	case !(rate > 0 && rate <= 10):
		return invalid("a learning rate of %v", rate)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, store.ErrInvalid)...)
}
