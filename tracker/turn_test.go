package tracker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// shared is a place in memory that several stores see, without conditional writes.
type shared struct {
	t    *testing.T
	open func(opts *store.Options) *tracker.FileTracker
	s    *store.Store // without an Intercept
}

func newShared(t *testing.T) *shared {
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { check(t, bucket.Close()) })
	open := func(opts *store.Options) *store.Store { return store.FromBucket(bucket, "mem://", opts) }
	return &shared{t, func(opts *store.Options) *tracker.FileTracker { return tracker.NewFileTracker(open(opts), nil) }, open(nil)}
}

// spoiled is a tracker whose first put of the text file another writer takes away, so
// that it takes turns from then on.
func (p *shared) spoiled(then func(context.Context, store.Request, func() error) error) *tracker.FileTracker {
	var once sync.Once
	return p.open(&store.Options{Intercept: func(ctx context.Context, q store.Request, do func() error) error {
		if q.Op != "put" || q.Key != key(runB, "sources", runA.Encode()) {
			return then(ctx, q, do)
		}
		err := then(ctx, q, do)
		once.Do(func() { check(p.t, p.s.Put(ctx, store.Key(q.Key), []byte("theirs\n"))) })
		return err
	}})
}

func asked(_ context.Context, _ store.Request, do func() error) error { return do() }

func turnOf(run, source tracker.RunID) store.Key {
	return store.Key(key(run, "heirloom", "turns", source.Encode()))
}

// TestTurnOfTheDead kills the holder of a turn at each of its requests: whoever comes
// next waits for the lease, does the work of both, and leaves no turn behind.
func TestTurnOfTheDead(t *testing.T) {
	for deadAt := int64(1); deadAt < 40; deadAt++ {
		over := false
		synctest.Test(t, func(t *testing.T) { over = deadHolder(t, deadAt) })
		if over {
			if deadAt < 10 {
				t.Errorf("a link took %d requests, turn and all", deadAt)
			}
			return
		}
	}
	t.Error("no end of requests")
}

// deadHolder reports whether the holder lived to its end.
func deadHolder(t *testing.T, deadAt int64) bool {
	p := newShared(t)
	check(t, p.open(nil).AddMetadata(t.Context(), runA, nil))
	dead, n := errors.New("dead"), atomic.Int64{}
	first := p.spoiled(func(ctx context.Context, q store.Request, do func() error) error {
		if n.Add(1) >= deadAt {
			return dead
		}
		return do()
	})
	err := first.AddSource(t.Context(), runB, tracker.Source{ID: runA, Artifact: "first"})
	linked, _ := p.open(nil).Sources(t.Context(), runB, "first")
	begun := time.Now()
	check(t, p.spoiled(asked).AddSource(t.Context(), runB, tracker.Source{ID: runA, Artifact: "second"}))
	if waited := time.Since(begun); waited > time.Minute {
		t.Errorf("died at request %d: the next writer waited %v", deadAt, waited)
	}
	want := []string{"second\n"}
	if len(linked) > 0 {
		want = append(want, "first\n")
	}
	for _, file := range []string{key(runB, "sources", runA.Encode()), key(runA, "descendants", runB.Encode())} {
		body, getErr := p.s.Get(t.Context(), store.Key(file))
		check(t, getErr)
		for _, line := range want {
			if !strings.Contains(string(body), line) {
				t.Errorf("died at request %d: %s holds %q, without %q", deadAt, file, body, line)
			}
		}
	}
	if _, statErr := p.s.Stat(t.Context(), turnOf(runB, runA)); !errors.Is(statErr, store.ErrNotExist) {
		t.Errorf("died at request %d: the turn is left, %v", deadAt, statErr)
	}
	return err == nil
}

// TestTurnLate links while the holder of the turn is at each of its requests: the call
// may return without the line being written, and once the holder has returned it is.
func TestTurnLate(t *testing.T) {
	for name, c := range map[string]struct {
		links int           // that are there before
		each  time.Duration // of a request of the holder
	}{"quick": {0, time.Second}, "long lists on a slow link": {1000, 4 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			for at := int64(1); at < 90; at++ {
				over := false
				synctest.Test(t, func(t *testing.T) { over = lateLink(t, at, c.links, c.each) })
				if over {
					return
				}
			}
			t.Error("no end of requests")
		})
	}
}

// lateLink reports whether the holder was done before its request of that number.
func lateLink(t *testing.T, at int64, links int, each time.Duration) bool {
	p := newShared(t)
	check(t, p.open(nil).AddMetadata(t.Context(), runA, nil))
	for _, name := range numbered("z%d", links) { // behind the others in a list
		put(t, p.s, key(runB, "heirloom/links", runA.Encode(), b32(name)), "{}")
	}
	late := p.spoiled(asked)
	check(t, late.AddSource(t.Context(), runB, tracker.Source{ID: runA, Artifact: "before"})) // takes turns from now on
	var n atomic.Int64
	var other sync.WaitGroup
	holder := p.spoiled(func(ctx context.Context, q store.Request, do func() error) error {
		if n.Add(1) == at {
			other.Go(func() {
				check(t, late.AddSource(t.Context(), runB, tracker.Source{ID: runA, Artifact: "late"}))
			})
		}
		time.Sleep(each) // for the other to get as far as it can
		return do()
	})
	check(t, holder.AddSource(t.Context(), runB, tracker.Source{ID: runA, Artifact: "held"}))
	other.Wait()
	if n.Load() < at {
		return true
	}
	for _, file := range []string{key(runB, "sources", runA.Encode()), key(runA, "descendants", runB.Encode())} {
		body, err := p.s.Get(t.Context(), store.Key(file))
		check(t, err)
		for _, line := range []string{"before\n", "held\n", "late\n"} {
			if !strings.Contains(string(body), line) {
				t.Errorf("linked at request %d of the holder: %s holds %q, without %q", at, file, body, line)
			}
		}
	}
	return false
}
