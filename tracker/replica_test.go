package tracker_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestReplicas(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
		ctx := t.Context()
		n, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{})
		check(t, err)
		id := func(role string, k int) tracker.ReplicaID {
			return tracker.ReplicaID{Attempt: n, Role: role, Number: k}
		}
		for _, r := range []tracker.ReplicaID{id("main", 10), id("main", 2), id("data/../é", 0)} {
			check(t, tr.StartReplica(ctx, runA, r, tracker.AttemptStart{Host: "h", PID: r.Number}))
		}
		if err := tr.StartReplica(ctx, runA, id("main", 2), tracker.AttemptStart{}); !errors.Is(err, store.ErrExist) {
			t.Errorf("started twice: %v", err)
		}
		code := 3
		check(t, tr.EndReplica(ctx, runA, id("main", 2), tracker.AttemptEnd{State: tracker.Failed, ExitCode: &code}))
		clock.move(time.Hour)
		check(t, tr.BeatReplica(ctx, runA, id("main", 10)))
		list, err := tr.Replicas(ctx, runA, n)
		check(t, err)
		var got []tracker.ReplicaID
		states := map[int]tracker.State{}
		for _, r := range list {
			got = append(got, r.ReplicaID)
			states[r.Number] = r.State(clock.Now())
		}
		if want := []tracker.ReplicaID{id("data/../é", 0), id("main", 2), id("main", 10)}; !slices.Equal(got, want) {
			t.Errorf("replicas %v, want %v", got, want)
		}
		if states[0] != tracker.Lost || states[2] != tracker.Failed || states[10] != tracker.Running || *list[1].End.ExitCode != 3 || list[2].Start.PID != 10 {
			t.Errorf("states %v of %+v", states, list)
		}
		if got := stateOf(t, tr, runA); got != tracker.Lost { // the attempt speaks for itself
			t.Errorf("state of the run %s", got)
		}
		for _, bad := range []tracker.ReplicaID{id("", 0), id("a\n", 0), id("main", -1), {Attempt: 0, Role: "main"}} {
			if err := tr.StartReplica(ctx, runA, bad, tracker.AttemptStart{}); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if err := tr.EndReplica(ctx, runA, id("main", 10), tracker.AttemptEnd{State: tracker.Running}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ended as running: %v", err)
		}
	})
}

// TestUnattended is of an attempt that says itself when it counts as lost.
func TestUnattended(t *testing.T) {
	for _, c := range []struct {
		lostAfter, silence time.Duration
		want               tracker.State
	}{
		{0, 4 * time.Minute, tracker.Lost},
		{-1, 10_000 * time.Hour, tracker.Running},
		{time.Hour, 59 * time.Minute, tracker.Running},
		{time.Hour, 61 * time.Minute, tracker.Lost},
		{1500 * time.Millisecond, time.Second, tracker.Running},
		{1500 * time.Millisecond, 2 * time.Second, tracker.Lost},
	} {
		clock := newWall()
		tr := tracker.NewFileTracker(openStore(t, "mem://", nil), &tracker.Options{Now: clock.Now})
		_, err := tr.StartAttempt(t.Context(), runA, tracker.AttemptStart{LostAfter: c.lostAfter})
		check(t, err)
		clock.move(c.silence)
		if got := stateOf(t, tr, runA); got != c.want {
			t.Errorf("%v after %v: %s, want %s", c.lostAfter, c.silence, got, c.want)
		}
	}
}
