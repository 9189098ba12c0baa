package tracker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// A job records what it did; anyone asks afterwards.
func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, "mem://", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t := tracker.NewFileTracker(s, nil)

	job := tracker.NewAppRun("local://torchx/train-1", t)
	fmt.Println(job.AddMetadata(ctx, pyjson.NewObject(pyjson.Member{Key: "params.lr", Value: 0.01})))
	fmt.Println(job.AddArtifact(ctx, tracker.Artifact{Name: "model", Path: "s3://models/1"}))
	fmt.Println(job.AddSource(ctx, tracker.Source{ID: "local://torchx/prepare-1", Artifact: "train"}))

	run, err := t.Run(ctx, job.ID())
	if err != nil {
		fmt.Println(err)
		return
	}
	lr, _ := run.Metadata.Get("params.lr")
	fmt.Println(lr, run.Artifacts[0].Path, run.Sources[0].ID, run.Sources[0].Artifact)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// 0.01 s3://models/1 local://torchx/prepare-1 train
}

// newTracker opens a tracker in memory, which has nothing to close.
func newTracker(ctx context.Context) *tracker.FileTracker {
	s, err := store.Open(ctx, "mem://", nil)
	if err != nil {
		panic(err)
	}
	return tracker.NewFileTracker(s, nil)
}

// A job written in Go finds its run in the environment that "heirloom run" made;
// outside of a launch every call does nothing.
func ExampleFromEnviron() {
	ctx := context.Background()
	environ := []string{"HOME=/home/ann"} // a program passes os.Environ()
	run, err := tracker.FromEnviron(ctx, environ, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	fmt.Println(run.ID(), run.AddArtifact(ctx, tracker.Artifact{Name: "model", Path: "s3://models/1"}))
	// Output: <UNDEFINED> <nil>
}

// Metrics of many steps go into few records.
func ExampleAppRun_AddMetrics() {
	ctx := context.Background()
	t := newTracker(ctx) // opened as in the example of the package
	run := tracker.NewAppRun("local://torchx/train-1", t)
	for step, loss := range []float64{2, 1, 0.5} {
		if err := run.AddMetrics(ctx, int64(step), map[string]float64{"loss": loss}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := run.Close(); err != nil { // writes what waits
		fmt.Println(err)
		return
	}
	series, err := t.Series(ctx, run.ID())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range series["loss"] {
		fmt.Println(p.Step, p.Value)
	}
	// Output:
	// 0 2
	// 1 1
	// 2 0.5
}

// Lineage is one step in both directions.
func ExampleFileTracker_Lineage() {
	ctx := context.Background()
	t := newTracker(ctx) // opened as in the example of the package
	fmt.Println(t.AddSource(ctx, "local://torchx/train-1", tracker.Source{ID: "local://torchx/prepare-1", Artifact: "train"}))
	fmt.Println(t.AddSource(ctx, "local://torchx/evaluate-1", tracker.Source{ID: "local://torchx/train-1", Artifact: "model"}))
	found, err := t.Lineage(ctx, "local://torchx/train-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, source := range found.Sources {
		fmt.Println("from", source.ID, source.Artifact)
	}
	for _, edge := range found.Consumers {
		fmt.Println("to", edge.To, edge.Source.Artifact)
	}
	// Output:
	// <nil>
	// <nil>
	// from local://torchx/prepare-1 train
	// to local://torchx/evaluate-1 model
}

// A service holds one tracker and records a run for each request it serves, with
// an attempt, so that a run which died with the service is shown as lost.
func ExampleFileTracker_StartAttempt() {
	ctx := context.Background()
	t := newTracker(ctx) // opened as in the example of the package
	serve := func(name string, work func(*tracker.AppRun) error) error {
		id := tracker.RunID("service://torchx/" + name) // tracker.NewRunID makes one that is new
		n, err := t.StartAttempt(ctx, id, tracker.AttemptStart{Host: "node-1"})
		if err != nil {
			return err
		}
		run := tracker.NewAppRun(id, t)
		end := tracker.AttemptEnd{State: tracker.Succeeded}
		if err = errors.Join(work(run), run.Close()); err != nil {
			end.State = tracker.Failed
		}
		return errors.Join(err, t.EndAttempt(ctx, id, n, end)) // last: it commits the run
	}
	err := serve("score-1", func(run *tracker.AppRun) error {
		return run.AddSource(ctx, tracker.Source{ID: "local://torchx/train-1", Artifact: "model"})
	})
	fmt.Println(err)
	for run, err := range t.Runs(ctx, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run.ID, run.State, len(run.Sources))
	}
	// Output:
	// <nil>
	// service://torchx/score-1 SUCCEEDED 1
}
