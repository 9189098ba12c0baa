package removal_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

// deed is something that dies on the way.
type deed struct {
	name   string
	before func(s *scene) // nil = nothing but the seed
	do     func(ctx context.Context, l *removal.Ledger) error
	// settled says whether the run is to be shown once the deed was done again.
	shown bool
}

func deeds() []deed {
	remove := func(ctx context.Context, l *removal.Ledger) error {
		_, err := l.Delete(ctx, run, removal.Why{})
		return err
	}
	restore := func(ctx context.Context, l *removal.Ledger) error {
		_, err := l.Undo(ctx, run, "")
		return err
	}
	purge := func(ctx context.Context, l *removal.Ledger) error {
		_, err := l.Purge(ctx, run, removal.PurgeOptions{First: []store.Key{"runs/" + store.Key(store.EncodeRun(string(run))) + "/checkpoints/1/.metadata"}})
		return err
	}
	hidden := func(s *scene) { s.delete() }
	return []deed{
		{"delete", nil, remove, false},
		{"delete again", func(s *scene) {
			s.delete()
			check(s.t, s.tracker.AddMetadata(s.t.Context(), run, nil))
		}, remove, false},
		{"undo", hidden, restore, true},
		{"purge", hidden, purge, false},
	}
}

// life counts the requests of a process, which dies before the one of that number; it has none after that.
type life struct {
	last   int64 // 0 = for ever
	passed atomic.Int64
	die    context.CancelFunc
}

func (l *life) intercept(ctx context.Context, _ store.Request, do func() error) error {
	if n := l.passed.Add(1); l.last > 0 && n >= l.last {
		l.die()
		return context.Canceled
	}
	return do()
}

// TestKillAtEveryRequest ends each deed before each of its requests: the run is then whole and shown, or hidden, and
// TorchX's readers take nothing that is left of it for a run; and the deed, done again, is done.
func TestKillAtEveryRequest(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		killAll(t, func() string { return t.TempDir() }, func(points int) int { return points })
	})
	t.Run("s3", func(t *testing.T) {
		server, n := servers.MinIO(t), 0
		killAll(t, func() string {
			n++
			return server.URL(fmt.Sprint("removal/", n))
		}, storetest.Rounds)
	})
}

func killAll(t *testing.T, fresh func() string, share func(points int) int) {
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			points := int(d.run(t, fresh(), 0))
			for _, at := range rand.Perm(points)[:share(points)] {
				d.run(t, fresh(), at+1)
				if t.Failed() {
					t.Fatalf("killed before request %d of %d", at+1, points)
				}
			}
			t.Logf("%d requests", points)
		})
	}
}

// run does the deed in a new store, dying before the request of that number, and looks at what is left; then it does it
// again. It returns the number of requests.
func (d deed) run(t *testing.T, url string, last int) int64 {
	t.Helper()
	s := newScene(t, url, nil)
	s.seed()
	if d.before != nil {
		d.before(s)
	}
	whole := s.contents()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	l := &life{last: int64(last), die: die}
	mortal := newScene(t, url, l.intercept)
	err := d.do(ctx, mortal.ledger)
	if dead := errors.Is(err, context.Canceled); dead != (last > 0) || err != nil && !dead {
		t.Fatalf("error %v of a process that dies before request %d", err, last)
	}
	s.examine(whole)
	if last > 0 {
		check(t, d.do(t.Context(), s.ledger))
		s.examine(whole)
	}
	if s.shown() != d.shown {
		t.Errorf("in the end the run is shown: %v, want %v", !d.shown, d.shown)
	}
	if open, err := s.ledger.Open(t.Context()); err != nil || len(open) > 1 || (d.shown || d.name == "purge") && len(open) > 0 {
		t.Errorf("left open are %+v, error %v", open, err)
	}
	return l.passed.Load()
}

// examine holds what is there against the whole run.
func (s *scene) examine(whole map[store.Key]string) {
	s.t.Helper()
	now := s.contents()
	maps.DeleteFunc(now, func(key store.Key, _ string) bool { return isMark(key) })
	maps.DeleteFunc(whole, func(key store.Key, _ string) bool { return isMark(key) })
	if s.shown() && !maps.Equal(now, whole) {
		s.t.Error("the run is shown, and not whole")
	}
	visible, stone, lacking := 0, false, false
	for key, body := range whole {
		if torchx(key) && now[key] != body {
			lacking = true
		}
	}
	for key, body := range now {
		if !torchx(key) {
			continue
		}
		visible++
		stone = stone || strings.Contains(body, tracker.KeyDeleted)
	}
	if lacking && visible > 0 && !stone {
		s.t.Error("TorchX sees a part of the run, and that does not say so")
	}
	for key, body := range whole {
		if !strings.Contains(string(key), run.Encode()) && !strings.HasPrefix(string(key), "runs/") && now[key] != body {
			s.t.Errorf("%s of another run has changed", key)
		}
	}
}

func isMark(key store.Key) bool { return strings.Contains(string(key), "/attempts/deleted/") }

// torchx says whether TorchX reads an object as a part of the run.
func torchx(key store.Key) bool {
	rest, ours := strings.CutPrefix(string(key), "tracker/"+run.Encode()+"/")
	return ours && !strings.HasPrefix(rest, "heirloom/")
}

// TestOneOutcome lets many restore and purge one run at the same moment: it is restored whole or gone.
func TestOneOutcome(t *testing.T) {
	outcomes := map[removal.Outcome]int{}
	for round := range storetest.Rounds(400) {
		url := t.TempDir()
		s := newScene(t, url, nil)
		s.seed()
		whole := s.contents()
		s.delete()
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				ledger := newScene(t, url, nil).ledger
				var err error
				if i%2 == round%2 {
					for range rand.N(30) { // a purge has more to look at before it decides
						if _, err := ledger.Last(t.Context(), run); err != nil {
							t.Error(err)
						}
					}
					_, err = ledger.Undo(t.Context(), run, "")
				} else {
					_, err = ledger.Purge(t.Context(), run, removal.PurgeOptions{})
				}
				if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotExist) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		e, err := s.ledger.Last(t.Context(), run)
		check(t, err)
		outcomes[e.Outcome]++
		switch now := s.contents(); {
		case !e.Done:
			t.Errorf("%+v was not carried out", e)
		case e.Outcome == removal.Restored && (!s.shown() || !maps.Equal(now, whole)):
			t.Error("restored, and not whole")
		case e.Outcome == removal.Purged && s.shown():
			t.Error("purged, and shown")
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%v", outcomes)
}
