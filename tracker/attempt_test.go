package tracker_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func stateOf(t *testing.T, tr *tracker.FileTracker, id tracker.RunID) tracker.State {
	t.Helper()
	run, err := tr.Run(t.Context(), id)
	check(t, err)
	return run.State
}

// TestLife follows a run through two attempts.
func TestLife(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
		ctx := t.Context()
		begin := clock.Now()
		step := func(what string, d time.Duration, do func() error, want tracker.State) {
			t.Helper()
			clock.move(d)
			check(t, do())
			if got := stateOf(t, tr, runA); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		nothing := func() error { return nil }
		start := func() error { _, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{}); return err }
		code := 7
		end := func(n int, state tracker.State) func() error {
			return func() error {
				return tr.EndAttempt(ctx, runA, n, tracker.AttemptEnd{State: state, Signal: "SIGINT", ExitCode: &code})
			}
		}
		step("metadata alone", 0, func() error { return tr.AddMetadata(ctx, runA, object("a", 1)) }, tracker.Unknown)
		step("submitted", 0, func() error { return tr.AddMetadata(ctx, runA, object(tracker.KeyState, "SUBMITTED")) }, tracker.Submitted)
		step("no state", 0, func() error { return tr.AddMetadata(ctx, runA, object(tracker.KeyState, "DONE")) }, tracker.Unknown)
		step("started", 0, start, tracker.Running)
		step("three minutes", 3*time.Minute, nothing, tracker.Running)
		step("a moment more", 1, nothing, tracker.Lost)
		step("beat", 0, func() error { return tr.Beat(ctx, runA, 1) }, tracker.Running)
		step("silence", time.Hour, nothing, tracker.Lost)
		step("again", 0, start, tracker.Running)
		step("late record of the first attempt", time.Second, end(1, tracker.Failed), tracker.Running)
		step("late metadata", 0, func() error { return tr.AddMetadata(ctx, runA, object(tracker.KeyState, "FAILED")) }, tracker.Running)
		step("ended", time.Second, end(2, tracker.Succeeded), tracker.Succeeded)
		step("for ever", 1000*time.Hour, func() error { return tr.Beat(ctx, runA, 1) }, tracker.Succeeded)

		if err := end(2, tracker.Failed)(); !errors.Is(err, store.ErrExist) {
			t.Errorf("ended twice: %v", err)
		}
		run, err := tr.Run(ctx, runA)
		check(t, err)
		if !run.Started.Equal(begin) || run.Ended.Sub(begin) != time.Hour+3*time.Minute+2*time.Second+1 {
			t.Errorf("from %s to %s", run.Started, run.Ended)
		}
		if len(run.Attempts) != 2 || run.Attempts[0].End.State != tracker.Failed || *run.Attempts[1].End.ExitCode != 7 || run.Attempts[1].End.Signal != "SIGINT" {
			t.Errorf("attempts %+v", run.Attempts)
		}
	})
}

// TestRequeued follows a run that its scheduler starts again: between its attempts it waits, until somebody says that
// none will follow.
func TestRequeued(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
		ctx := t.Context()
		look := func(what string, want tracker.State, ended bool) {
			t.Helper()
			run, err := tr.Run(ctx, runA)
			check(t, err)
			if run.State != want || run.Ended.IsZero() == ended {
				t.Errorf("%s: %s, ended %s", what, run.State, run.Ended)
			}
		}
		start := func() {
			_, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{})
			check(t, err)
		}
		start()
		check(t, tr.AddMetadata(ctx, runA, object(tracker.KeyState, "RUNNING")))
		check(t, tr.EndAttempt(ctx, runA, 1, tracker.AttemptEnd{State: tracker.Failed, Requeued: true}))
		look("between", tracker.Pending, false)
		clock.move(24 * time.Hour)
		look("a day later", tracker.Pending, false)
		start()
		look("again", tracker.Running, false)
		check(t, tr.EndAttempt(ctx, runA, 2, tracker.AttemptEnd{State: tracker.Failed, Requeued: true}))
		check(t, tr.AddMetadata(ctx, runA, object(tracker.KeyState, "CANCELLED", tracker.KeyEnded, "2026-11-20T10:00:00Z")))
		look("cancelled while it waited", tracker.Cancelled, true)
		start()
		look("and started all the same", tracker.Running, false)
		check(t, tr.EndAttempt(ctx, runA, 3, tracker.AttemptEnd{State: tracker.Succeeded}))
		look("ended", tracker.Succeeded, true)
		attempts, err := tr.Attempts(ctx, runA)
		check(t, err)
		if !attempts[0].End.Requeued || attempts[2].End.Requeued || attempts[0].State(clock.Now()) != tracker.Failed {
			t.Errorf("attempts %+v", attempts)
		}
	})
}

func TestTerminal(t *testing.T) {
	for _, state := range []tracker.State{tracker.Succeeded, tracker.Failed, tracker.Cancelled} {
		if !state.Terminal() {
			t.Errorf("%s is not terminal", state)
		}
	}
	for _, state := range []tracker.State{tracker.Unsubmitted, tracker.Submitted, tracker.Pending, tracker.Running, tracker.Unknown, tracker.Lost, ""} {
		if state.Terminal() {
			t.Errorf("%s is terminal", state)
		}
	}
}

// TestMetadataOfState takes times from the metadata of a run without attempts.
func TestMetadataOfState(t *testing.T) {
	tr := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	check(t, tr.AddMetadata(t.Context(), runA, object(tracker.KeyState, "SUCCEEDED",
		tracker.KeyStarted, "2026-11-20T10:00:00Z", tracker.KeyEnded, "2026-11-20T11:00:00.5+01:00")))
	run, err := tr.Run(t.Context(), runA)
	check(t, err)
	if run.State != tracker.Succeeded || run.Ended.Sub(run.Started) != 500*time.Millisecond || run.Ended.Location() != time.UTC {
		t.Errorf("%s from %s to %s", run.State, run.Started, run.Ended)
	}
}

// TestAttemptsAreNumberedOnce starts many at a time.
func TestAttemptsAreNumberedOnce(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		const many = 20
		numbers := make([]int, many)
		var group sync.WaitGroup
		for i := range many {
			group.Go(func() {
				tr := tracker.NewFileTracker(s, nil)
				n, err := tr.StartAttempt(t.Context(), runA, tracker.AttemptStart{PID: i + 1})
				if err != nil {
					t.Error(err)
				}
				numbers[i] = n
			})
		}
		group.Wait()
		run, err := tracker.NewFileTracker(s, nil).Run(t.Context(), runA)
		check(t, err)
		for i, n := range numbers {
			if n < 1 || n > many || run.Attempts[n-1].Start.PID != i+1 {
				t.Fatalf("numbers %v, attempts %+v", numbers, run.Attempts)
			}
		}
		slices.Sort(numbers)
		if len(slices.Compact(numbers)) != many {
			t.Errorf("numbers %v", numbers)
		}
	})
}

// TestSecretsAreRedacted looks for them in everything that was written.
func TestSecretsAreRedacted(t *testing.T) {
	s := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	ctx := t.Context()
	const secret = "hunter2hunter2"
	_, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{Command: []string{"train", "--password=" + secret, "--db", "postgres://u:" + secret + "@h/db", "caf\xe9"}})
	check(t, err)
	check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "m", Path: "https://h/k?X-Amz-Signature=" + secret}))
	check(t, tr.AddSource(ctx, runA, tracker.Source{ID: "in", URI: "https://u:" + secret + "@h/k"}))
	meta := object(tracker.KeyCommand, []any{"train", "--api-key", secret, "--lr", "0.1", "caf\xe9"}, tracker.KeyGitRemote, "https://u:"+secret+"@h/r.git")
	check(t, tr.AddMetadata(ctx, runA, meta))
	if !strings.Contains(meta.Text(tracker.KeyGitRemote), secret) {
		t.Error("the caller's own value was changed")
	}
	in, err := tracker.NewInput(tracker.Source{URI: "https://u:" + secret + "@h/k"}, "/")
	check(t, err)
	check(t, tr.AddSource(ctx, runA, in))
	if strings.Contains(string(in.ID), secret) {
		t.Errorf("the id %s holds the secret", in.ID)
	}
	check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "kept", Path: "s3://b/token=1/x"}))
	for key, body := range objects(t, s) {
		if strings.Contains(body, secret) {
			t.Errorf("%s holds the secret: %s", key, body)
		}
	}
	run, err := tr.Run(ctx, runA)
	check(t, err)
	if got := run.Attempts[0].Start.Command; got[0] != "train" || got[len(got)-1] != "caf\ufffd" {
		t.Errorf("command %q", got)
	}
	if got := dump(t, member(run.Metadata, tracker.KeyCommand)); got != `["train", "--api-key", "[redacted]", "--lr", "0.1", "caf\ufffd"]` {
		t.Errorf("command %s", got)
	}
	if got := run.Artifacts[0].Path; got != "s3://b/token=1/x" {
		t.Errorf("a path without secrets became %s", got)
	}
}
