//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Mirroring a short job into a remote store takes one request for each file and
// one for the manifest, no listing.
func TestMirrorRequests(t *testing.T) {
	requests := func(save bool) map[string]int64 {
		l := newLauncher(t, "mem://", &store.Options{SaveRuns: &save})
		if _, err := l.Run(t.Context(), sh("true"), nil); err != nil {
			t.Fatal(err)
		}
		return l.Store.Stats().Requests
	}
	without, with := requests(false), requests(true)
	const stats = 4 // memory tells the version of what was put only when it is asked
	if with["put"]-without["put"] != 4 || with["list"] != without["list"] || with["get"] != without["get"] || with["stat"]-without["stat"] > stats {
		t.Errorf("with outputs %v, without %v", with, without)
	}
}

// A file is in the store while the job that wrote it still runs, and the job goes
// on only when it is.
func TestOutputsAreStoredWhileTheJobRuns(t *testing.T) {
	release := filepath.Join(t.TempDir(), "release")
	opts := &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		err := do()
		if r.Op == "put" && strings.HasSuffix(r.Key, "/model.pt") {
			err = errors.Join(err, os.WriteFile(release, nil, 0o600))
		}
		return err
	}}
	l := newLauncher(t, "mem://", opts)
	job := sh(`echo m > $HEIRLOOM_OUTPUT_DIR/model.pt; touch -d 2001-01-01 $HEIRLOOM_OUTPUT_DIR/model.pt
i=0; while [ ! -e ` + release + ` ]; do i=$((i+1)); [ $i -lt 600 ] || exit 9; sleep 0.05; done; echo end > $HEIRLOOM_OUTPUT_DIR/end`)
	job.SyncEvery = 10 * time.Millisecond
	result, run := launched(t, l, job)
	if result.ExitCode != 0 || len(run.Artifacts) != 2 {
		t.Fatalf("got %+v", result)
	}
	for _, name := range []string{"model.pt", "end"} {
		if _, err := l.Store.Stat(t.Context(), l.Store.Layout().RunDir(string(run.ID)).Join(name)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(l.TempDir); len(left) > 0 {
		t.Errorf("scratch stays: %v", left)
	}
}

// A job that is told to end leaves storing its outputs what remains of the grace
// time; what does not fit into it stays where it is, and that is said.
func TestStoringEndsWithTheGraceTime(t *testing.T) {
	var once sync.Once
	started := make(chan struct{})
	opts := &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
		if strings.HasSuffix(r.Key, "/huge") {
			<-ctx.Done() // a store that takes it too slowly
			return ctx.Err()
		}
		if strings.HasSuffix(r.Key, "/newest.pt") {
			defer once.Do(func() { close(started) })
		}
		return do()
	}}
	l := newLauncher(t, "mem://", opts)
	ctx, cancel := context.WithCancel(t.Context())
	job := sh(`cd $HEIRLOOM_OUTPUT_DIR; echo h > huge; echo n > newest.pt; trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done`)
	job.Stdout = writerFunc(func(b []byte) (int, error) { cancel(); return len(b), nil })
	job.Grace = time.Second
	result, err := l.Run(ctx, job, nil) // which a store that never answers would hold up for ever
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-started
	if result.State != tracker.Failed || !slices.ContainsFunc(result.Warnings, func(w string) bool { return strings.Contains(w, "huge") }) {
		t.Errorf("got %+v", result)
	}
	kept, _ := filepath.Glob(filepath.Join(l.TempDir, "*", "output", "huge"))
	if len(kept) != 1 || !strings.Contains(err.Error(), filepath.Dir(kept[0])) {
		t.Errorf("kept %v, told %v", kept, err)
	}
}

// What Horovod calls the overrides, as far as a run goes by them.
func TestRunFollowsTheLayout(t *testing.T) {
	l := newLauncher(t, "mem://", &store.Options{RunsPath: "experiments", CheckpointFilename: "model.bin", TrainPath: "data/t", ValPath: "data/v", TestPath: "data/h"})
	var started Started
	job := sh(`echo w > $HEIRLOOM_OUTPUT_DIR/model.bin`)
	result, err := l.Run(t.Context(), job, func(s Started) { started = s })
	if err != nil {
		t.Fatal(err)
	}
	run := readRun(t, l, result.RunID)
	a := artifact(t, run, "model.bin")
	if want := "experiments/" + store.EncodeRun(string(run.ID)) + "/model.bin"; a.Key() != want || a.Kind() != tracker.KindCheckpoint {
		t.Errorf("key %s, kind %s, want %s", a.Key(), a.Kind(), want)
	}
	if !strings.HasPrefix(started.OutputDir, l.TempDir) {
		t.Errorf("scratch is %s, not below %s", started.OutputDir, l.TempDir)
	}
	for obj, err := range l.Store.List(t.Context(), "") {
		if err != nil || strings.HasPrefix(string(obj.Key), "data/") || strings.HasPrefix(string(obj.Key), "runs/") {
			t.Errorf("the run wrote %s, %v", obj.Key, err)
		}
	}
}
