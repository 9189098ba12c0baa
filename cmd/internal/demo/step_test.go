package demo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func TestStepRefuses(t *testing.T) {
	b := newBench(t, "mem://")
	splits := b.prepare()
	if err := b.store.Put(t.Context(), "bad.safetensors", []byte("no model")); err != nil {
		t.Fatal(err)
	}
	train, val := "--train="+splits.place("train"), "--val="+splits.place("val")
	tests := []struct {
		name, step string
		args       []string
		want       error
	}{
		{"a step that does not exist", "deploy", nil, store.ErrInvalid},
		{"a flag that does not exist", "train", []string{"--speed=1"}, store.ErrInvalid},
		{"an argument", "train", []string{"now"}, store.ErrInvalid},
		{"a word for a number", "train", []string{"--epochs=ten"}, store.ErrInvalid},
		{"no epochs", "train", []string{train, val, "--epochs=0"}, store.ErrInvalid},
		{"no units", "train", []string{train, val, "--hidden=0"}, store.ErrInvalid},
		{"a learning rate of 0", "train", []string{train, val, "--learning-rate=0"}, store.ErrInvalid},
		{"no batch", "train", []string{train, val, "--batch=0"}, store.ErrInvalid},
		{"no data named", "train", []string{val}, store.ErrInvalid},
		{"data that are not there", "train", []string{"--train=none", val}, store.ErrNotExist},
		{"a share above 1", "finetune", []string{train, val, "--from=x", "--shifted=2"}, store.ErrInvalid},
		{"a checkpoint that is not there", "finetune", []string{train, val, "--from=none"}, store.ErrNotExist},
		{"a checkpoint that is none", "finetune", []string{train, val, "--from=bad.safetensors"}, store.ErrCorrupt},
		{"another store's model", "evaluate", []string{"--model=s3://b/model", "--test=x"}, store.ErrInvalid},
		{"a fraction of 1", "prepare", []string{"--val=1"}, store.ErrInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env := Env{Store: b.store, OutputDir: t.TempDir(), CheckpointDir: t.TempDir()}
			if err := Step(t.Context(), env, test.step, test.args); !errors.Is(err, test.want) {
				t.Errorf("Step = %v, want %v", err, test.want)
			}
		})
	}
}

func TestPrepareTwiceIsAHit(t *testing.T) {
	b := newBench(t, "mem://")
	for _, hit := range []bool{false, true} {
		var artifacts recorded
		dir := b.step("prepare", "prepare", steps()["prepare"], &artifacts)
		body, err := os.ReadFile(filepath.Join(dir, "dataset.json"))
		if err != nil {
			t.Fatal(err)
		}
		var prepared Prepared
		if err := json.Unmarshal(body, &prepared); err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for i, part := range prepared.Splits {
			rows += part.Rows
			if a := artifacts[i]; a.Name != string(part.Name) || a.Path != part.URL || a.Key() != string(part.Key) || a.Kind() != "dataset" {
				t.Errorf("artifact %+v for split %+v", a, part)
			}
		}
		if prepared.Hit != hit || rows != 1797 || len(prepared.Splits) != 3 || len(prepared.Fingerprint) != 64 {
			t.Errorf("dataset.json: %s", body)
		}
	}
}

// TestFinetuneKeepsWhatIsBetter gives a rate that ruins the network.
func TestFinetuneKeepsWhatIsBetter(t *testing.T) {
	b := newBench(t, "mem://")
	splits := b.prepare()
	train := steps()["train"].(*TrainOptions)
	train.Train, train.Val, train.Epochs = splits.place("train"), splits.place("val"), 3
	trained := b.step("train", "train", train, nil)
	fine := steps()["finetune"].(*FinetuneOptions)
	fine.From, fine.Train, fine.Val = "runs/train/model.safetensors", train.Train, train.Val
	fine.Epochs, fine.LearningRate = 2, 10
	tuned := b.step("finetune", "finetune", fine, nil)
	before, _, err := decodeModel(mustRead(t, filepath.Join(trained, ModelName)))
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := decodeModel(mustRead(t, filepath.Join(tuned, ModelName)))
	if err != nil {
		t.Fatal(err)
	}
	if before.w1[0] != after.w1[0] || last(t, tuned)["best_epoch"] != 0 {
		t.Errorf("the model is not the one it started from: %v", last(t, tuned))
	}
}

func TestStepIsCancelled(t *testing.T) {
	b := newBench(t, "mem://")
	splits := b.prepare()
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	env := Env{Store: b.store, OutputDir: dir, CheckpointDir: dir, Stdout: writerFunc(func([]byte) { cancel() })}
	err := Step(ctx, env, "train", []string{"--train=" + splits.place("train"), "--val=" + splits.place("val")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Step = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, checkpointName(1))); err != nil {
		t.Error(err)
	}
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

func TestWriteFileIsWholeOrAbsent(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(dir, "taken", []byte("x")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if err := writeFile(dir, "file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
