package lineage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// records stands for a root: the runs it holds, or the error that reading them gives.
type records map[tracker.RunID]any

func (r records) Run(_ context.Context, id tracker.RunID) (*tracker.Run, error) {
	switch v := r[id].(type) {
	case error:
		return nil, v
	case *tracker.Run:
		return v, nil
	}
	return nil, &store.Error{Op: "read run", Key: string(id), Kind: store.ErrNotExist}
}

func TestAttach(t *testing.T) {
	sub := closure(t, graph("raw@1>prepare(input)", "prepare>train", "gone>train(parent)"), "train", lineage.Query{Up: true})
	err := sub.Attach(t.Context(), records{"train": &tracker.Run{ID: "train", State: tracker.Succeeded}})
	if err != nil {
		t.Fatal(err)
	}
	train, _ := sub.Node("train")
	if train.Run == nil || train.Run.State != tracker.Succeeded || train.Missing {
		t.Errorf("train: %+v, want its records", train)
	}
	for id, missing := range map[string]bool{"prepare": true, "gone": true, "raw@1": false} {
		if n, err := sub.Node(id); err != nil || n.Run != nil || n.Missing != missing {
			t.Errorf("%s: %+v %v, want no records and missing %t", id, n, err, missing)
		}
	}
}

func TestAttachKeepsOtherErrors(t *testing.T) {
	sub := closure(t, graph("a>b"), "b", lineage.Query{})
	err := sub.Attach(t.Context(), records{"a": &tracker.Run{}, "b": &store.Error{Op: "list", Kind: store.ErrUnavailable}})
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("error %v, want kind ErrUnavailable", err)
	}
}

func TestAttachToArtifact(t *testing.T) {
	root := records{"a": &tracker.Run{ID: "a", Artifacts: []tracker.Artifact{{Name: "log"}, {Name: "model", Path: "s3://b/m"}}}}
	g := graph("a>b:model", "a>b:gone")
	attach := func(id string) (*lineage.Node, error) {
		sub := closure(t, g, id, lineage.Query{Up: true})
		if err := sub.Attach(t.Context(), root); err != nil {
			return nil, err
		}
		return sub.Node(id)
	}
	if n, err := attach("a#model"); err != nil || n.Missing || n.Record() == nil || n.Record().Path != "s3://b/m" {
		t.Errorf("recorded artifact: %+v, %v", n, err)
	}
	if n, err := attach("a#gone"); err != nil || !n.Missing || n.Record() != nil {
		t.Errorf("artifact that is only used: %+v, %v; want missing", n, err)
	}
	if _, err := attach("a#modell"); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), "log, model") {
		t.Errorf("artifact nobody knows: %v; want kind ErrNotExist and the names there are", err)
	}
}
