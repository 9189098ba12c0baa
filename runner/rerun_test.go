//go:build unix

package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestRerunReadsWhatWasRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	job := sh("exit 0")
	job.Args = append(job.Args, "--token", "s3cr3t-s3cr3t")
	job.Environ = append(job.Environ, "OMP_NUM_THREADS=2", "RANK=3", "SLURM_JOB_ID=7", "HOME=/x", "CUDA_API_KEY=abcdefgh")
	job.Params = pyjson.NewObject(pyjson.Member{Key: "depth", Value: int64(3)}, pyjson.Member{Key: "password", Value: "hunter22"})
	job.Sources = []tracker.Source{{ID: "data@1", Role: tracker.RoleInput, Name: "data", Version: "1"}}
	job.Parent = "local://torchx/parent-1"
	digest := store.DigestOf([]byte("x"))
	job.Workspace = []WorkspaceDir{{From: "/src", To: "code", Digest: digest}}
	_, run := launched(t, l, job)
	again, err := NewRerun(run)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(again.Missing), "[argument --token [redacted] parameter password variable CUDA_API_KEY]"; got != want {
		t.Errorf("missing %s, want %s", got, want)
	}
	if len(again.Workspace) != 1 || again.Workspace[0] != (WorkspaceDir{To: "code", Digest: digest}) {
		t.Errorf("workspace %+v", again.Workspace)
	}
	if len(again.Job.Sources) != 1 || again.Job.Sources[0].ID != "data@1" || again.Job.RerunOf != run.ID {
		t.Errorf("sources %+v of %s", again.Job.Sources, again.Job.RerunOf)
	}
	got := again.Surroundings([]string{"OMP_NUM_THREADS=9", "OMP_PROC_BIND=x", "RANK=1", "HOME=/y", "CUDA_API_KEY=mine"})
	slices.Sort(got)
	if want := []string{"CUDA_API_KEY=mine", "HOME=/y", "OMP_NUM_THREADS=2", "RANK=1"}; !slices.Equal(got, want) {
		t.Errorf("surroundings %q, want %q", got, want)
	}
	again.ReplaceCommand([]string{"true", "--lr", "2"})
	if got := fmt.Sprint(again.Job.Params.Keys()); got != "[depth password]" {
		t.Errorf("parameters %s", got)
	}
	if _, err := NewRerun(&tracker.Run{ID: "r", Metadata: &tracker.Metadata{}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without a command: %v", err)
	}
}

// TestRerunOfApp: what is more than one process is recorded whole.
func TestRerunOfApp(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	job := sh("")
	job.Args = nil
	job.App = App{Name: "two", Roles: []Role{shRole("a", 2, "exit 0"), shRole("b", 1, "exit 0")}}
	_, run := launched(t, l, job)
	again, err := NewRerun(run)
	if err != nil {
		t.Fatal(err)
	}
	if again.Job.App.Replicas() != 3 || again.Job.App.Role("b") == nil || again.Job.App.Role("b").Args[1] != "exit 0" {
		t.Errorf("app %+v", again.Job.App)
	}
	again.Job.Environ = sh("").Environ
	_, second := launched(t, l, again.Job)
	if !slices.ContainsFunc(second.Sources, func(s tracker.Source) bool { return s.ID == run.ID && s.Role == tracker.RoleRerun }) {
		t.Errorf("sources %+v", second.Sources)
	}
	if second.Metadata.Text(KeyRerunOf) != string(run.ID) {
		t.Errorf("rerun of %q", second.Metadata.Text(KeyRerunOf))
	}
}

// TestOpenAndFinish: a run that nobody attends does not become lost, unless it said
// when, and its end is told once.
func TestOpenAndFinish(t *testing.T) {
	root := t.TempDir()
	l := newLauncher(t, root, nil)
	opened, err := l.Open(t.Context(), Job{Name: "nb", Environ: sh("").Environ}, 0)
	if err != nil {
		t.Fatal(err)
	}
	attempt := readRun(t, l, opened.RunID).Attempts[0]
	if got := attempt.State(time.Now().Add(1000 * time.Hour)); got != tracker.Running {
		t.Errorf("after weeks %s", got)
	}
	again := Job{RunID: opened.RunID, Environ: sh("").Environ}
	if _, err := l.Open(t.Context(), again, 0); !errors.Is(err, ErrRefused) {
		t.Errorf("opened twice: %v", err)
	}
	if err := os.WriteFile(filepath.Join(opened.OutputDir, "out"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ending := Ending{RunID: opened.RunID, State: tracker.Succeeded, Environ: slices.Concat(sh("").Environ, opened.Environ)}
	for range 2 {
		if _, err := l.Finish(t.Context(), ending); err != nil {
			t.Fatal(err)
		}
	}
	run := readRun(t, l, opened.RunID)
	if run.State != tracker.Succeeded || len(run.Artifacts) != 1 {
		t.Errorf("%s with %v", run.State, run.Artifacts)
	}
	ending.State = tracker.Failed
	if _, err := l.Finish(t.Context(), ending); !errors.Is(err, store.ErrConflict) {
		t.Errorf("finished in another way: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(l.TempDir, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	ending.RunID = "external://torchx/none"
	if _, err := l.Finish(t.Context(), ending); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("of a run that was never started: %v", err)
	}
}

// TestOpenWithoutPlace is of a store whose directories are not the local disk's: the
// outputs are stored by Finish, and no other run takes them for left behind.
func TestOpenWithoutPlace(t *testing.T) {
	l := newLauncher(t, "mem://", nil)
	opened, err := l.Open(t.Context(), Job{Name: "nb", Environ: sh("").Environ}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(opened.OutputDir, "out"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var notices []string
	if _, err := l.Run(t.Context(), sh("exit 0"), func(s Started) { notices = s.Notices }); err != nil || len(notices) > 0 {
		t.Errorf("another run says %q, %v", notices, err)
	}
	ending := Ending{RunID: opened.RunID, State: tracker.Cancelled, Environ: slices.Concat(sh("").Environ, opened.Environ)}
	if _, err := l.Finish(t.Context(), ending); err != nil {
		t.Fatal(err)
	}
	run := readRun(t, l, opened.RunID)
	if run.State != tracker.Cancelled || len(run.Artifacts) != 1 {
		t.Errorf("%s with %v", run.State, run.Artifacts)
	}
	if body, err := l.Store.Get(t.Context(), l.Store.Layout().RunDir(string(opened.RunID)).Join("out")); string(body) != "x" {
		t.Errorf("stored %q, %v", body, err)
	}
	if left, _ := filepath.Glob(filepath.Join(l.TempDir, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
