package runner

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKindOf(t *testing.T) {
	for path, want := range map[string]string{
		"metrics.jsonl": "metrics", "eval/metrics.json": "metrics", "metrics.txt": "other",
		"checkpoints/epoch-1.pt": "checkpoint", "checkpoints/1/_METADATA": "checkpoint", "checkpoint.h5": "checkpoint",
		"data/train.parquet": "dataset", "train.parquet/_SUCCESS": "dataset",
		"model.pt": "model", "a/b.safetensors": "model", "x.onnx": "model", "x.h5": "model", "x.keras": "model", "x.pth": "model",
		"model.json": "model", "model": "other", "best_model.bin": "other", "readme.txt": "other", "pt": "other",
	} {
		if got := kindOf(path, "checkpoint.h5"); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestArtifactName(t *testing.T) {
	long := strings.Repeat("é", 200)
	for path, want := range map[string]string{
		"a/b.txt":                "a/b.txt",
		strings.Repeat("x", 155): strings.Repeat("x", 155),
		long:                     strings.Repeat("é", 69) + "~",
		"a\nb":                   "a_b~",
		" a ":                    "a~",
		"\xff":                   "_~",
	} {
		got := artifactName(path)
		if !strings.HasPrefix(got, want) || len(got) > maxNameBytes || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q…", path, got, want)
		}
	}
	if artifactName(long) == artifactName(long+"x") {
		t.Error("two paths share a name")
	}
}

func TestNames(t *testing.T) {
	n := newNames([]string{"model.pt"})
	for _, tt := range []struct{ output, want string }{
		{"data/train.parquet", "data/train.parquet"},
		{"/abs/other.pt", "other.pt"},
		{"/abs/model.pt", "/abs/model.pt"}, // model.pt is taken
		{"s3://bucket/a/b.pt?region=x", "b.pt"},
		{"../up.txt", "up.txt"},
		{"dir/", "dir"},
		{"./here.txt", "here.txt"},
	} {
		if got := n.of(tt.output); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.output, got, tt.want)
		}
	}
}
