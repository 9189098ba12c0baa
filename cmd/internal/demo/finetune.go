package demo

import (
	"context"

	"github.com/heirloom-ml/heirloom/store"
)

// FinetuneOptions are the flags of the step finetune.
type FinetuneOptions struct {
	From         string  // checkpoint: key or URL in the store
	Train, Val   string  // splits: keys or URLs in the store
	LearningRate float64 // at the start; it falls to nothing
	Epochs       int
	Batch        int     // images
	Shifted      float64 // share of the images that are moved by a pixel, at random
	Seed         uint64
}

// Finetune goes on from a checkpoint, which remains the model if no epoch does
// better on the validation split.
func Finetune(ctx context.Context, env Env, opts FinetuneOptions) error {
	if err := checkPlan(opts.Epochs, opts.Batch, opts.LearningRate); err != nil {
		return err
	}
	if !(opts.Shifted >= 0 && opts.Shifted <= 1) {
		return invalid("a share of %v shifted images", opts.Shifted)
	}
	net, err := readModel(ctx, env.Store, opts.From)
	if err != nil {
		return err
	}
	return env.fit(ctx, net, plan{
		train: opts.Train, val: opts.Val, epochs: opts.Epochs, batch: opts.Batch, rate: opts.LearningRate,
		decay: true, shifted: opts.Shifted, keep: true, seed: opts.Seed,
	})
}

// readModel reads a network out of the store.
func readModel(ctx context.Context, s *store.Store, place string) (*network, error) {
	key, err := storeKey(s, place)
	if err != nil {
		return nil, err
	}
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	net, _, err := decodeModel(body)
	if err != nil {
		return nil, &store.Error{Op: "read model", Key: string(key), Kind: store.ErrCorrupt, Err: err}
	}
	return net, nil
}
