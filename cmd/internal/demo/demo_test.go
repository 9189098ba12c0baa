package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// recorded keeps the artifacts that a step registers.
type recorded []tracker.Artifact

func (r *recorded) AddArtifact(_ context.Context, a tracker.Artifact) error {
	*r = append(*r, a)
	return nil
}

// bench is a store and the place of one step after the other in it.
type bench struct {
	*testing.T
	store *store.Store
}

func newBench(t *testing.T, url string) bench {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return bench{t, s}
}

// step runs one step, uploads what it made to runs/<name>, and returns the local directory.
func (b bench) step(name, step string, opts Options, artifacts ArtifactRecorder) string {
	b.Helper()
	dir := b.TempDir()
	env := Env{
		Store: b.store, OutputDir: dir, CheckpointDir: filepath.Join(dir, "checkpoints"),
		MetricsPath: filepath.Join(dir, "metrics.jsonl"), Stdout: b.Output(), Artifacts: artifacts,
	}
	if err := Step(b.Context(), env, step, flags(opts)); err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	if _, err := b.store.UploadTree(b.Context(), dir, store.Key("runs/"+name), nil); err != nil {
		b.Fatal(err)
	}
	return dir
}

// last reads the last line of the metrics of a step.
func last(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]float64
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		line = nil
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
	}
	return line
}

func (b bench) prepare() *recorded {
	b.Helper()
	var artifacts recorded
	b.step("prepare", "prepare", steps()["prepare"], &artifacts)
	return &artifacts
}

func (r recorded) place(name dataset.Name) string {
	for _, a := range r {
		if a.Name == string(name) {
			return a.Path
		}
	}
	return ""
}

func TestPipelineOfSteps(t *testing.T) {
	b := newBench(t, "mem://")
	splits := b.prepare()
	opts := steps()["train"].(*TrainOptions)
	opts.Train, opts.Val, opts.Hidden = splits.place(dataset.Train), splits.place(dataset.Val), 128
	trained := last(t, b.step("train", "train", opts, nil))
	if trained["best_val_accuracy"] < 0.95 {
		t.Errorf("trained: %v", trained)
	}
	fine := steps()["finetune"].(*FinetuneOptions)
	fine.From = "runs/train/" + CheckpointArtifact(int(trained["best_epoch"]))
	fine.Train, fine.Val = opts.Train, opts.Val
	tuned := last(t, b.step("finetune", "finetune", fine, nil))
	if tuned["best_val_accuracy"] <= trained["best_val_accuracy"] {
		t.Errorf("finetuned: %v, from %v", tuned, trained)
	}
	dir := b.step("evaluate", "evaluate", &EvaluateOptions{
		Model: b.store.KeyURL("runs/finetune/model.safetensors"), Test: splits.place(dataset.Test)}, nil)
	if result := last(t, dir); result["test_accuracy"] < 0.97 {
		t.Errorf("evaluated: %v", result)
	}
	var evaluation Evaluation
	if err := json.Unmarshal(mustRead(t, filepath.Join(dir, "evaluation.json")), &evaluation); err != nil {
		t.Fatal(err)
	}
	right, all := 0, 0
	for label, row := range evaluation.Confusion {
		right += row[label]
		for _, n := range row {
			all += n
		}
	}
	if all != evaluation.Images || float64(right)/float64(all) != evaluation.TestAccuracy {
		t.Errorf("the confusion matrix has %d of %d right, the accuracy is %v of %d", right, all, evaluation.TestAccuracy, evaluation.Images)
	}
}
