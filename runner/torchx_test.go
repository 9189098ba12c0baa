//go:build unix

package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// An unmodified script written for TorchX logs into the run it is launched in.
func TestTorchXScript(t *testing.T) {
	python := servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	l := newLauncher(t, t.TempDir(), nil)
	var out strings.Builder
	job := Job{
		Args: []string{python, "testdata/app.py"}, Stdout: &out, Stderr: os.Stderr, Parent: "local://torchx/sweep-1",
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LOGLEVEL=ERROR"},
	}
	result, run := launched(t, l, job)
	if result.ExitCode != 0 || len(result.Warnings) > 0 {
		t.Fatalf("got %+v", result)
	}
	want := fmt.Sprintf("run %s\nsources [('local://torchx/dataset-1', 'train'), ('local://torchx/sweep-1', None)]\n", run.ID)
	if out.String() != want {
		t.Errorf("the script saw %s\nwant %s", &out, want)
	}
	if value(run.Metadata, "lr") != 0.01 || value(run.Metadata, "epochs") != int64(3) || run.State != tracker.Succeeded {
		t.Errorf("recorded %s", jsonOf(run.Metadata))
	}
	if model := artifact(t, run, "model"); model.Path != "/tmp/model.pt" || value(model.Metadata, "accuracy") != 0.97 {
		t.Errorf("recorded %+v", model)
	}
	if !slices.ContainsFunc(run.Sources, func(s tracker.Source) bool { return s.ID == "local://torchx/dataset-1" && s.Artifact == "train" }) {
		t.Errorf("recorded %+v", run.Sources)
	}
}

// On S3 the outputs are uploaded, and an output named by URL is registered where
// it lies.
func TestRunOnS3(t *testing.T) {
	server := servers.MinIO(t)
	l := newLauncher(t, server.URL("prefix"), nil)
	other := newLauncher(t, server.URL("elsewhere"), nil)
	for key, text := range map[store.Key]string{"big/a": "aa", "big/b": "b", "one.parquet": "1234"} {
		if err := other.Store.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	job := sh(`echo w > $HEIRLOOM_CHECKPOINT_DIR/1.pt; env`)
	var out strings.Builder
	job.Stdout = &out
	query := server.URL("")[strings.Index(server.URL(""), "?"):]
	base := "s3://" + server.Bucket + "/elsewhere/"
	job.Outputs = []string{base + "one.parquet" + query, base + "big/" + query, base + "absent" + query}
	result, run := launched(t, l, job)
	if result.State != tracker.Succeeded || result.Artifacts != 3 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "absent") {
		t.Errorf("got %+v", result)
	}
	one := artifact(t, run, "one.parquet")
	if one.SHA256() != hexOf("1234") || one.Kind() != tracker.KindDataset || one.Path != base+"one.parquet" {
		t.Errorf("got %s %s", one.Path, jsonOf(one.Metadata))
	}
	if size, _ := artifact(t, run, "big").SizeBytes(); size != 3 {
		t.Errorf("got %s", jsonOf(artifact(t, run, "big").Metadata))
	}
	model := artifact(t, run, "checkpoints/1.pt")
	if body, err := l.Store.Get(t.Context(), store.Key(model.Key())); err != nil || string(body) != "w\n" {
		t.Errorf("got %q, %v", body, err)
	}
	if left, _ := os.ReadDir(l.TempDir); len(left) > 0 {
		t.Errorf("scratch stays: %v", left)
	}
	if strings.Contains(out.String(), server.SecretKey) {
		t.Error("the secret is in the job's environment, where nobody put it")
	}
	checkNoSecret(t, l, server.SecretKey)
}
