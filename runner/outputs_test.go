//go:build unix

package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func artifact(t *testing.T, run *tracker.Run, name string) tracker.Artifact {
	t.Helper()
	for _, a := range run.Artifacts {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no artifact %q among %v", name, run.Artifacts)
	return tracker.Artifact{}
}

func TestOutputRules(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("n", 180) + ".pt"
	result, run := launched(t, l, sh(`cd $HEIRLOOM_OUTPUT_DIR
echo a > a.txt; ln -s a.txt inside; ln -s `+outside+` outside; mkfifo pipe; mkdir empty
echo b > `+long+`; printf x > "$(printf 'new\nline')"; mkdir -p sub/logs; echo c > sub/logs/kept.txt`))
	var names []string
	for _, a := range run.Artifacts {
		names = append(names, a.Name)
	}
	if len(names) != 4 || result.Artifacts != 4 {
		t.Errorf("artifacts %q", names)
	}
	a := artifact(t, run, "a.txt")
	if a.SHA256() != hexOf("a\n") || a.Path != l.Store.KeyURL(store.Key(a.Key())) || a.Kind() != tracker.KindOther {
		t.Errorf("got %s %s", a.Path, jsonOf(a.Metadata))
	}
	if cut := artifact(t, run, artifactName(long)); !strings.HasSuffix(cut.Key(), long) || cut.Kind() != tracker.KindModel {
		t.Errorf("long name: %s", jsonOf(cut.Metadata))
	}
	odd := artifact(t, run, artifactName("new\nline"))
	if odd.SHA256() != hexOf("x") || odd.Key() != "" {
		t.Errorf("odd name: %s %s", odd.Path, jsonOf(odd.Metadata))
	}
	artifact(t, run, "sub/logs/kept.txt")
	if len(result.Warnings) != 2 || !strings.Contains(strings.Join(result.Warnings, "\n"), "outside") || !strings.Contains(strings.Join(result.Warnings, "\n"), "pipe") {
		t.Errorf("warnings %q", result.Warnings)
	}
	if recorded, _ := value(run.Metadata, KeyWarnings).([]any); len(recorded) != 2 {
		t.Errorf("recorded warnings %v", recorded)
	}
}

func TestOutputDirectoryRemovedByTheJob(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	result, run := launched(t, l, sh(`rm -r $HEIRLOOM_OUTPUT_DIR`))
	if result.State != tracker.Succeeded || len(result.Warnings) != 1 || len(run.Artifacts) != 0 {
		t.Errorf("got %+v", result)
	}
}

func TestHashModes(t *testing.T) {
	for mode, want := range map[HashMode][2]bool{"": {true, true}, HashSHA256: {true, true}, HashSize: {true, false}, HashNone: {false, false}} {
		l := newLauncher(t, t.TempDir(), nil)
		job := sh(`echo a > $HEIRLOOM_OUTPUT_DIR/a.txt; mkdir d; echo b > d/b; echo c > c`)
		job.Dir, job.Hash, job.Outputs = t.TempDir(), mode, []string{"d", "c"}
		_, run := launched(t, l, job)
		for _, a := range run.Artifacts {
			_, size := a.SizeBytes()
			hash := a.SHA256() != "" || a.Metadata.Text(KeyTreeSHA256) != ""
			if size != want[0] || hash != want[1] {
				t.Errorf("%q: %s %s", mode, a.Name, jsonOf(a.Metadata))
			}
		}
		if len(run.Artifacts) != 3 {
			t.Errorf("%q: %v", mode, run.Artifacts)
		}
	}
	l := newLauncher(t, t.TempDir(), nil)
	job := sh("true")
	job.Hash = "md5"
	if _, err := l.Run(t.Context(), job, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestNamedOutputs(t *testing.T) {
	root := t.TempDir()
	l := newLauncher(t, root, nil)
	job := sh(`mkdir data; echo 1 > data/part-0.parquet; echo 22 > data/part-1.parquet; echo m > model.pt; echo s > ` + root + `/shared.bin`)
	job.Dir = t.TempDir()
	job.Outputs = []string{"data", "model.pt", root + "/shared.bin", "absent.txt"}
	result, run := launched(t, l, job)
	if result.Artifacts != 3 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "absent.txt") || result.State != tracker.Succeeded {
		t.Errorf("got %+v", result)
	}
	data := artifact(t, run, "data")
	lines := fmt.Sprintf("%s 2 part-0.parquet\n%s 3 part-1.parquet\n", hexOf("1\n"), hexOf("22\n"))
	if size, _ := data.SizeBytes(); size != 5 || data.Kind() != tracker.KindDataset || data.Metadata.Text(KeyTreeSHA256) != hexOf(lines) ||
		value(data.Metadata, KeyFiles) != int64(2) || data.Path != "file://"+job.Dir+"/data" {
		t.Errorf("got %s %s", data.Path, jsonOf(data.Metadata))
	}
	if model := artifact(t, run, "model.pt"); model.SHA256() != hexOf("m\n") || model.Kind() != tracker.KindModel || model.Key() != "" {
		t.Errorf("got %s", jsonOf(model.Metadata))
	}
	if shared := artifact(t, run, "shared.bin"); shared.Key() != "shared.bin" {
		t.Errorf("got %s", jsonOf(shared.Metadata))
	}
}

// A store that is not a directory: outputs are written to scratch and uploaded.
func TestRemoteStore(t *testing.T) {
	l := newLauncher(t, "mem://", nil)
	job := sh(`echo hello; mkdir $HEIRLOOM_OUTPUT_DIR/d; echo a > $HEIRLOOM_OUTPUT_DIR/d/a.txt`)
	job.Outputs = []string{}
	result, run := launched(t, l, job)
	a := artifact(t, run, "d/a.txt")
	body, err := l.Store.Get(t.Context(), store.Key(a.Key()))
	if err != nil || string(body) != "a\n" || a.SHA256() != hexOf("a\n") || result.State != tracker.Succeeded {
		t.Errorf("got %q, %v, %+v", body, err, result)
	}
	key := l.Store.Layout().LogsDir(string(run.ID), role, 0, 1).Join("stdout.log")
	if body, err := l.Store.Get(t.Context(), key); err != nil || string(body) != "hello\n" {
		t.Errorf("log %q, %v", body, err)
	}
	if left, _ := os.ReadDir(l.TempDir); len(left) > 0 {
		t.Errorf("scratch stays: %v", left)
	}
}

// Outputs that could not be stored are kept where they are, and the run is not
// said to have succeeded.
func TestUploadFails(t *testing.T) {
	deny := &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
		if strings.Contains(r.Key, "precious") {
			return store.ErrPermission
		}
		return do()
	}}
	l := newLauncher(t, "mem://", deny)
	result, err := l.Run(t.Context(), sh(`echo a > $HEIRLOOM_OUTPUT_DIR/precious.pt`), nil)
	if !errors.Is(err, store.ErrPermission) {
		t.Fatalf("got %v", err)
	}
	run := readRun(t, l, result.RunID)
	if result.State != tracker.Failed || run.State != tracker.Failed || len(run.Artifacts) != 0 {
		t.Errorf("got %+v, recorded %s", result, run.State)
	}
	kept, _ := filepath.Glob(filepath.Join(l.TempDir, "*", "output", "precious.pt"))
	if len(kept) != 1 || !strings.Contains(err.Error(), filepath.Dir(kept[0])) {
		t.Errorf("kept %v, told %v", kept, err)
	}
}

func TestSaveRunsFalse(t *testing.T) {
	no := false
	root := t.TempDir()
	l := newLauncher(t, root, &store.Options{SaveRuns: &no})
	result, run := launched(t, l, sh(`echo a > $HEIRLOOM_OUTPUT_DIR/a; echo '{"loss": 1}' > $HEIRLOOM_METRICS`))
	if _, err := os.Stat(filepath.Join(root, "runs")); err == nil || result.Artifacts != 0 || value(run.Metadata, "metrics.loss") != int64(1) {
		t.Errorf("got %+v %s", result, jsonOf(run.Metadata))
	}
}
