package tracker_test

import (
	"context"
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
