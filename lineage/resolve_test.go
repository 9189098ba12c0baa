package lineage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// library is a root with runs and inputs of every form of id.
func library() *lineage.Graph {
	runs := []tracker.RunID{"local://torchx/train-x7f2", "local://torchx/pretrain-x7f2", "local://torchx/train-b9k1", "slurm://torchx/eval-c3", "odd#run", "local://torchx/train-small-q1w2"}
	input := func(s tracker.Source) tracker.Edge {
		s.Role = tracker.RoleInput
		return tracker.Edge{From: s.ID, To: runs[0], Source: s}
	}
	return lineage.New(runs, []tracker.Edge{
		input(tracker.Source{ID: "s3://bucket/clicks", URI: "s3://bucket/clicks"}),
		input(tracker.Source{ID: "file:///data/digits.csv", URI: "file:///data/digits.csv"}),
		input(tracker.Source{ID: "clicks@2026-11-20", Name: "clicks", Version: "2026-11-20"}),
		input(tracker.Source{ID: "sha256:0af1", Name: "very-long", Version: "1"}),
		input(tracker.Source{ID: "sha256:0af2", URI: "s3://bucket/very/long"}),
		{From: "slurm://torchx/gone-d4", To: runs[0], Source: tracker.Source{ID: "slurm://torchx/gone-d4"}},
	})
}

func TestResolve(t *testing.T) {
	tests := []struct{ text, want string }{
		{"local://torchx/train-x7f2", "local://torchx/train-x7f2"},
		{"train-x7f2", "local://torchx/train-x7f2"}, // the whole last part, though also a part of another
		{"b9k", "local://torchx/train-b9k1"},
		{"pretrain", "local://torchx/pretrain-x7f2"},
		{"gone", "slurm://torchx/gone-d4"},
		{"odd#run", "odd#run"},
		{"odd", "odd#run"},
		{"odd#run#m", "odd#run#m"},
		{"local://torchx/train-x7f2#model", "local://torchx/train-x7f2#model"},
		{"eval#model.bin", "slurm://torchx/eval-c3#model.bin"},
		{"eval#a#b", "slurm://torchx/eval-c3#a#b"},
		{"clicks@2026-11-20", "clicks@2026-11-20"},
		{"clicks@2026-11-20#part-0", "clicks@2026-11-20#part-0"},
		{"very-long@1", "sha256:0af1"},
		{"very-long", "sha256:0af1"},
		{"0af2", "sha256:0af2"},
		{"s3://bucket/clicks/", "s3://bucket/clicks"},
		{"s3a://bucket/clicks", "s3://bucket/clicks"},
		{"s3://bucket/very/long", "sha256:0af2"},
		{"/data/digits.csv", "file:///data/digits.csv"},
		{"digits.csv", "file:///data/digits.csv"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := library().Resolve(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("Resolve = %q, %v; want %q", got, err, tt.want)
			}
			if _, err := library().Node(got); err != nil {
				t.Errorf("what was resolved is no node: %v", err)
			}
		})
	}
}

func TestResolveBelowAFolder(t *testing.T) {
	for _, text := range []string{"digits.csv", "./digits.csv", "../data/digits.csv"} {
		if got, err := library().ResolveIn(text, "/data"); err != nil || got != "file:///data/digits.csv" {
			t.Errorf("ResolveIn(%q) = %q, %v", text, got, err)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	tests := []struct {
		text string
		kind error
		says string
	}{
		{"", store.ErrInvalid, "empty"},
		{"trian", store.ErrNotExist, "train-"},
		{"tran-small", store.ErrNotExist, "near are train-small-q1w2"},
		{"tarin", store.ErrNotExist, "train-small-q1w2"},
		{"evla-c3", store.ErrNotExist, "near are eval-c3"},
		{"evla#model", store.ErrNotExist, "eval-c3"},
		{"zzzzzz", store.ErrNotExist, "no run or input"},
		{"clicks@2020", store.ErrNotExist, "clicks@2026-11-20"},
		{"s3://bucket/none", store.ErrNotExist, "s3://bucket/none"},
		{"x7f2", store.ErrConflict, "pretrain-x7f2, local://torchx/train-x7f2"},
		{"train#model", store.ErrConflict, "could be any of 3: train-b9k1, train-small-q1w2, train-x7f2"},
		{"clicks", store.ErrConflict, "clicks@2026-11-20, s3://bucket/clicks"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			id, err := library().Resolve(tt.text)
			if id != "" || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Resolve = %q, %v; want kind %v and %q", id, err, tt.kind, tt.says)
			}
		})
	}
	if _, err := lineage.New(nil, nil).Resolve("x"); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), "no runs") {
		t.Errorf("in an empty root: %v", err)
	}
}

func TestAmbiguityNamesAFewOfMany(t *testing.T) {
	var runs []string
	for i := range 40 {
		runs = append(runs, fmt.Sprintf("sweep-%02d", i))
	}
	_, err := graph(runs...).Resolve("sweep")
	var ambiguous *tracker.AmbiguousError
	if !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != 40 || !slices.IsSorted(ambiguous.Candidates) {
		t.Fatalf("error %v, want all 40 candidates in order", err)
	}
	if text := err.Error(); !strings.HasSuffix(text, "sweep-04, and 35 more") {
		t.Errorf("error reads %q", text)
	}
}
