package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/testdata/digits"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Project and Experiment are what the runs of the demo are filed under.
const (
	Project    = "demo"
	Experiment = "digits"
)

// Config says where the pipeline runs.
type Config struct {
	Launcher Launcher
	Tracker  tracker.Tracker // of the launcher's store; metrics and artifacts are read back from it
	Store    *store.Store
	// Executable is started as "Executable demo-step NAME FLAG…" for each step,
	// and must then call Step.
	Executable     string
	Environ        []string  // of the steps
	Stdout, Stderr io.Writer // what the steps print; nil = only kept in their logs
	// Starting is called when a step starts, and Ended when it has; nil = not.
	Starting func(name string, run runner.Started)
	Ended    func(run Launched)
}

// Launcher runs one step to its end and records it, as *runner.Launcher does here.
type Launcher interface {
	Run(ctx context.Context, job runner.Job, started func(runner.Started)) (runner.Result, error)
}

// Launched is one step that was run.
type Launched struct {
	Name string // train-wide
	runner.Result
}

// Outcome is what the pipeline made.
type Outcome struct {
	Runs         []Launched // in the order of their start
	Chosen       string     // name of the training run that finetune went on from
	Evaluated    tracker.RunID
	TestAccuracy float64
}

// FailedError says that a step ended badly. What it printed is in its logs.
type FailedError struct{ Launched }

// Error names the step, its run and how it ended.
func (e *FailedError) Error() string {
	return fmt.Sprintf("step %s (run %s) ended %s with exit code %d", e.Name, e.RunID, e.State, e.ExitCode)
}

// pipeline is one run of the demo.
type pipeline struct {
	Config
	outcome Outcome
}

// Run launches prepare; train twice, with different settings; finetune from the
// best checkpoint of the better one; and evaluate. What one step needs of
// another it finds in the tracker, and links as its source. It stops at the
// first step that fails: an error of the launcher, or *FailedError. The Outcome
// then holds the runs so far.
func Run(ctx context.Context, c Config) (Outcome, error) {
	p := &pipeline{Config: c}
	err := p.run(ctx)
	return p.outcome, err
}

func (p *pipeline) run(ctx context.Context) error {
	splits, err := p.prepare(ctx)
	if err != nil {
		return err
	}
	small, err := p.train(ctx, "train-small", splits, 32, 0.05)
	if err != nil {
		return err
	}
	wide, err := p.train(ctx, "train-wide", splits, 128, 0.05)
	if err != nil {
		return err
	}
	better, err := p.choose(ctx, small, wide)
	if err != nil {
		return err
	}
	model, err := p.finetune(ctx, better, splits)
	if err != nil {
		return err
	}
	return p.evaluate(ctx, model, splits[dataset.Test])
}

// launch runs one step as any user would run a job.
func (p *pipeline) launch(ctx context.Context, name, step string, opts Options, sources ...tracker.Source) (tracker.RunID, error) {
	job := runner.Job{
		Name: name, Project: Project, Experiment: Experiment,
		Args: append([]string{p.Executable, "demo-step", step}, flags(opts)...), ParamsFromArgs: true,
		Environ: p.Environ, Sources: sources, Stdout: p.Stdout, Stderr: p.Stderr,
	}
	result, err := p.Launcher.Run(ctx, job, func(s runner.Started) {
		if p.Starting != nil {
			p.Starting(name, s)
		}
	})
	launched := Launched{Name: name, Result: result}
	if result.RunID != "" {
		p.outcome.Runs = append(p.outcome.Runs, launched)
	}
	if err != nil {
		return "", fmt.Errorf("run step %s: %w", name, err)
	}
	if p.Ended != nil {
		p.Ended(launched)
	}
	if result.State != tracker.Succeeded {
		return "", &FailedError{launched}
	}
	return result.RunID, nil
}

// product is an artifact of a step: where it lies, and the link to it.
type product struct {
	place  string // key or URL
	source tracker.Source
}

// product finds an artifact that a run registered.
func (p *pipeline) product(ctx context.Context, run tracker.RunID, name string) (product, error) {
	artifacts, err := p.Tracker.Artifacts(ctx, run)
	if err != nil {
		return product{}, err
	}
	for _, a := range artifacts {
		if a.Name == name {
			return product{cmp.Or(a.Key(), a.Path), tracker.Source{ID: run, Artifact: name}}, nil
		}
	}
	return product{}, &store.Error{Op: "find artifact of " + string(run), Key: name, Kind: store.ErrNotExist}
}

func (p *pipeline) prepare(ctx context.Context) (map[dataset.Name]product, error) {
	input := tracker.Source{
		ID: SourceID, Role: tracker.RoleInput, Artifact: "digits.csv.gz",
		Name: "uci-optdigits", Version: "1998-07", URI: sourceURL, Digest: digits.SHA256(),
	}
	run, err := p.launch(ctx, "prepare", "prepare", steps()["prepare"], input)
	if err != nil {
		return nil, err
	}
	splits := make(map[dataset.Name]product)
	for _, name := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test} {
		if splits[name], err = p.product(ctx, run, string(name)); err != nil {
			return nil, err
		}
	}
	return splits, nil
}

// trained is a training run with the metrics it is chosen by.
type trained struct {
	name           string
	run            tracker.RunID
	epoch          int // the best
	accuracy, loss float64
}

func (p *pipeline) train(ctx context.Context, name string, splits map[dataset.Name]product, hidden int, rate float64) (trained, error) {
	opts := steps()["train"].(*TrainOptions)
	opts.Train, opts.Val = splits[dataset.Train].place, splits[dataset.Val].place
	opts.Hidden, opts.LearningRate = hidden, rate
	run, err := p.launch(ctx, name, "train", opts, splits[dataset.Train].source, splits[dataset.Val].source)
	return trained{name: name, run: run}, err
}

// choose reads the metrics of the runs back and takes the one with the highest
// accuracy on the validation split; of equals the one with the lower loss.
func (p *pipeline) choose(ctx context.Context, runs ...trained) (trained, error) {
	var best trained
	for i, t := range runs {
		meta, err := p.Tracker.Metadata(ctx, t.run)
		if err != nil {
			return trained{}, err
		}
		epoch, err1 := metric(meta, "best_epoch")
		accuracy, err2 := metric(meta, "best_val_accuracy")
		loss, err3 := metric(meta, "best_val_loss")
		if err := errors.Join(err1, err2, err3); err != nil {
			return trained{}, fmt.Errorf("choose between training runs: %s: %w", t.run, err)
		}
		t.epoch, t.accuracy, t.loss = int(epoch), accuracy, loss
		if i == 0 || t.accuracy > best.accuracy || t.accuracy == best.accuracy && t.loss < best.loss {
			best = t
		}
	}
	p.outcome.Chosen = best.name
	return best, nil
}

func metric(meta *tracker.Metadata, name string) (float64, error) {
	value, _ := meta.Get(tracker.PrefixMetrics + name)
	switch v := value.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, nil
	}
	return 0, &store.Error{Op: "read metric", Key: name, Kind: store.ErrNotExist}
}

func (p *pipeline) finetune(ctx context.Context, from trained, splits map[dataset.Name]product) (product, error) {
	checkpoint, err := p.product(ctx, from.run, CheckpointArtifact(from.epoch))
	if err != nil {
		return product{}, err
	}
	opts := steps()["finetune"].(*FinetuneOptions)
	opts.From, opts.Train, opts.Val = checkpoint.place, splits[dataset.Train].place, splits[dataset.Val].place
	run, err := p.launch(ctx, "finetune", "finetune", opts,
		checkpoint.source, splits[dataset.Train].source, splits[dataset.Val].source)
	if err != nil {
		return product{}, err
	}
	return p.product(ctx, run, ModelName)
}

func (p *pipeline) evaluate(ctx context.Context, model, test product) error {
	opts := &EvaluateOptions{Model: model.place, Test: test.place}
	run, err := p.launch(ctx, "evaluate", "evaluate", opts, model.source, test.source)
	if err != nil {
		return err
	}
	meta, err := p.Tracker.Metadata(ctx, run)
	if err != nil {
		return err
	}
	p.outcome.Evaluated = run
	p.outcome.TestAccuracy, err = metric(meta, "test_accuracy")
	return err
}
