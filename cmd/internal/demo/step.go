package demo

import (
	"context"
	"flag"
	"io"
)

// Options are the settings of one step. Bind declares them as flags, with the
// present values as defaults.
type Options interface {
	Bind(f *flag.FlagSet)
	run(ctx context.Context, env Env) error
}

// steps lists the steps with their defaults.
func steps() map[string]Options {
	return map[string]Options{
		"prepare":  &PrepareOptions{Val: 0.15, Test: 0.15, Seed: seed},
		"train":    &TrainOptions{Hidden: 32, LearningRate: 0.05, Epochs: 15, Batch: 32, Seed: seed},
		"finetune": &FinetuneOptions{LearningRate: 0.03, Epochs: 20, Batch: 32, Shifted: 0.3, Seed: seed},
		"evaluate": &EvaluateOptions{},
	}
}

// seed is the default of every step.
const seed = 6

// Step runs one step, prepare, train, finetune or evaluate, with the flags args.
// The error has kind store.ErrInvalid for a step or a flag that does not exist.
func Step(ctx context.Context, env Env, name string, args []string) error {
	opts, ok := steps()[name]
	if !ok {
		return invalid("the demo has no step %q", name)
	}
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // the error says it all
	opts.Bind(f)
	if err := f.Parse(args); err != nil {
		return invalid("step %s: %v", name, err)
	}
	if f.NArg() > 0 {
		return invalid("step %s: %q is no flag", name, f.Arg(0))
	}
	return opts.run(ctx, env)
}

// flags writes opts as the flags that Step reads.
func flags(opts Options) []string {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	opts.Bind(f)
	var list []string
	f.VisitAll(func(fl *flag.Flag) { list = append(list, "--"+fl.Name+"="+fl.Value.String()) })
	return list
}

// Bind implements Options.
func (o *PrepareOptions) Bind(f *flag.FlagSet) {
	f.Float64Var(&o.Val, "val", o.Val, "fraction of the digits for validation")
	f.Float64Var(&o.Test, "test", o.Test, "fraction of the digits for the test")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the draw")
}

// Bind implements Options.
func (o *TrainOptions) Bind(f *flag.FlagSet) {
	f.StringVar(&o.Train, "train", o.Train, "training split: key or URL in the store")
	f.StringVar(&o.Val, "val", o.Val, "validation split: key or URL in the store")
	f.IntVar(&o.Hidden, "hidden", o.Hidden, "units of the hidden layer")
	f.Float64Var(&o.LearningRate, "learning-rate", o.LearningRate, "learning rate")
	f.IntVar(&o.Epochs, "epochs", o.Epochs, "epochs")
	f.IntVar(&o.Batch, "batch", o.Batch, "images of a batch")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the weights and of the order")
}

// Bind implements Options.
func (o *FinetuneOptions) Bind(f *flag.FlagSet) {
	f.StringVar(&o.From, "from", o.From, "checkpoint: key or URL in the store")
	f.StringVar(&o.Train, "train", o.Train, "training split: key or URL in the store")
	f.StringVar(&o.Val, "val", o.Val, "validation split: key or URL in the store")
	f.Float64Var(&o.LearningRate, "learning-rate", o.LearningRate, "learning rate at the start")
	f.IntVar(&o.Epochs, "epochs", o.Epochs, "epochs")
	f.IntVar(&o.Batch, "batch", o.Batch, "images of a batch")
	f.Float64Var(&o.Shifted, "shifted", o.Shifted, "share of the images that are moved by a pixel")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the order and of the shifts")
}

// Bind implements Options.
func (o *EvaluateOptions) Bind(f *flag.FlagSet) {
	f.StringVar(&o.Model, "model", o.Model, "model: key or URL in the store")
	f.StringVar(&o.Test, "test", o.Test, "test split: key or URL in the store")
}

func (o *PrepareOptions) run(ctx context.Context, env Env) error  { return Prepare(ctx, env, *o) }
func (o *TrainOptions) run(ctx context.Context, env Env) error    { return Train(ctx, env, *o) }
func (o *FinetuneOptions) run(ctx context.Context, env Env) error { return Finetune(ctx, env, *o) }
func (o *EvaluateOptions) run(ctx context.Context, env Env) error { return Evaluate(ctx, env, *o) }
