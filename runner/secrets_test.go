//go:build unix

package runner

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/planted"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// TestNoSecretReachesTheDisk runs commands with all kinds of secrets in their
// arguments, environment, parameters, inputs, outputs and git remote.
func TestNoSecretReachesTheDisk(t *testing.T) {
	dir := t.TempDir()
	l := newLauncher(t, dir, nil)
	secrets := planted.Many(rand.New(rand.NewPCG(9, 10)), 0, storetest.Rounds(10_000))
	repository := filepath.Join(t.TempDir(), "work")
	for i, some := range slices.Collect(slices.Chunk(secrets, 10)) {
		if _, err := l.Run(t.Context(), leakingJob(t, repository, some, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	found, err := planted.Find(dir, secrets)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range found {
		t.Error(leak)
	}
}

func leakingJob(t *testing.T, repository string, secrets []planted.Secret, i int) Job {
	t.Helper()
	job := Job{
		Args: []string{"true"}, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "USER=ann"}, Dir: repository,
		Params: &pyjson.Object{}, Tags: &pyjson.Object{}, ParamsFromArgs: true, Hash: HashNone,
	}
	named := secrets[i%len(secrets)]
	job.Tags.Set("nested", pyjson.NewObject(pyjson.Member{Key: "list", Value: []any{named.URL}}))
	for _, s := range secrets {
		job.Args, job.Environ = append(job.Args, s.Args...), append(job.Environ, s.Env)
		job.Params.Set("text", s.URL)
		if s.URL == "" {
			continue
		}
		setRemote(t, repository, s.URL)
		input, err := tracker.NewInput(tracker.Source{URI: s.URL}, repository)
		if err != nil {
			t.Fatal(err)
		}
		job.Sources, job.Outputs = append(job.Sources, input), append(job.Outputs, s.URL)
	}
	job.Name, job.Project = named.URL, named.URL
	return job
}

// setRemote makes a work tree with that remote.
func setRemote(t *testing.T, dir, url string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "config", "remote.origin.url", url}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}
