//go:build unix

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// crashVar tells a child process to publish and to kill itself: "DIR CACHE before|after N".
const crashVar = "HEIRLOOM_TEST_CATALOG_CRASH"

func TestMain(m *testing.M) {
	if order := os.Getenv(crashVar); order != "" {
		if err := publishAndCrash(context.Background(), order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// publishAndCrash dies around the request of that number after the refresh, with nothing cleaned up.
func publishAndCrash(ctx context.Context, order string) error {
	var dir, cache, when string
	var at int64
	if _, err := fmt.Sscan(order, &dir, &cache, &when, &at); err != nil {
		return err
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	var armed atomic.Bool
	var n atomic.Int64
	s, err := store.Open(ctx, dir, &store.Options{Intercept: func(_ context.Context, _ store.Request, do func() error) error {
		now := armed.Load() && n.Add(1) == at
		if now && when == "before" {
			die()
		}
		err := do()
		if now {
			die()
		}
		return err
	}})
	if err != nil {
		return err
	}
	x, err := index.Open(ctx, tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil), index.Options{Dir: cache, Now: later})
	if err != nil {
		return err
	}
	if _, err := x.Refresh(ctx); err != nil {
		return err
	}
	armed.Store(true)
	_, err = catalog.Publish(ctx, s, catalog.Content{Index: x}, nil)
	return err
}

// TestKilledPublisher kills a publisher before and after each of its requests. What is visible is the version before or
// the new one, whole; the next publisher ends what is left to do, and everything that was left behind goes.
func TestKilledPublisher(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			for at := 1; killPublisher(t, when, at); at++ {
			}
		})
	}
}

// killPublisher is false once a publication takes fewer requests than that.
func killPublisher(t *testing.T, when string, at int) bool {
	t.Helper()
	dir := t.TempDir()
	w := newWorld(t, open(t, dir, nil))
	w.random(4, 4)
	w.publish(nil)
	w.describe(30)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d", crashVar, dir, t.TempDir(), when, at))
	out, err := child.CombinedOutput()
	if err == nil {
		if at < 15 {
			t.Errorf("a publication took %d requests, fewer than it can", at-1)
		}
		return false
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("killed %s request %d: %v\n%s", when, at, err, out)
	}
	w.checkLeft(fmt.Sprint("killed ", when, " request ", at))
	return true
}

// checkLeft looks at what a publisher of version 2 left, and ends it.
func (w *world) checkLeft(what string) {
	w.Helper()
	committed := has(w.keys(), "00000000000000000002/manifest.json")
	m := w.check()
	if m.Number != 1 && (m.Number != 2 || !committed) {
		w.Errorf("%s: version %d is visible", what, m.Number)
	}
	done := w.publish(nil)
	if done.Unchanged != committed || committed && done.Manifest.Number != 2 {
		w.Errorf("%s: published again: %+v, committed %v", what, done.Manifest.Number, committed)
	}
	if newest := w.check(); newest.Number != done.Manifest.Number {
		w.Errorf("%s: latest.json tells of version %d, want %d", what, newest.Number, done.Manifest.Number)
	}
	if _, err := catalog.Prune(w.Context(), w.store, catalog.Policy{Now: true, Keep: 1}, later(), false); err != nil {
		w.Fatal(err)
	}
	current := fmt.Sprintf("%020d/", done.Manifest.Number)
	for _, key := range w.keys() {
		if !strings.HasPrefix(key, current) && key != "latest.json" && key != "views.sql" && key != "00000000000000000002/manifest.json" {
			w.Errorf("%s: %s is left", what, key)
		}
	}
	w.check()
}

// TestFailingRequests lets each request of a publisher fail, the last one of all tries, and looks at what is left.
func TestFailingRequests(t *testing.T) {
	for at := int64(1); ; at++ {
		dir := t.TempDir()
		w := newWorld(t, open(t, dir, nil))
		w.random(4, 4)
		w.publish(nil)
		w.describe(30)
		var armed atomic.Bool
		var n atomic.Int64
		failing := newWorld(t, open(t, dir, &store.Options{Intercept: func(_ context.Context, _ store.Request, do func() error) error {
			if armed.Load() && n.Add(1) == at {
				return &store.Error{Op: "test", Kind: store.ErrPermission}
			}
			return do()
		}}))
		if _, err := failing.index.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		_, err := catalog.Publish(t.Context(), failing.store, catalog.Content{Index: failing.index}, nil)
		if n.Load() < at {
			if err != nil || at < 15 {
				t.Errorf("%d requests, error %v", at, err)
			}
			return
		}
		if !errors.Is(err, store.ErrPermission) {
			t.Errorf("request %d failed, and the publisher says %v", at, err)
		}
		w.checkLeft(fmt.Sprint("request ", at, " failed"))
	}
}

// A pruning that is killed is ended by the next one.
func TestKilledPruning(t *testing.T) {
	for at := int64(1); ; at++ {
		dir := t.TempDir()
		w := newWorld(t, open(t, dir, nil))
		w.random(4, 4)
		for i := range 3 {
			w.describe(30 + i)
			w.publish(nil)
		}
		w.must(w.store.Put(t.Context(), "heirloom/catalog/00000000000000000007/claim.json", []byte("{}"))) // of one that died
		w.must(w.store.Put(t.Context(), "heirloom/catalog/00000000000000000007/runs/runs.parquet", []byte("PAR1")))
		var n atomic.Int64
		dead := errors.New("dead")
		cut := open(t, dir, &store.Options{Intercept: func(_ context.Context, _ store.Request, do func() error) error {
			if n.Add(1) >= at {
				return dead
			}
			return do()
		}})
		if _, err := catalog.Prune(t.Context(), cut, catalog.Policy{Now: true}, later(), false); err == nil {
			return
		}
		if m := w.check(); m.Number != 3 {
			t.Errorf("cut at %d: version %d", at, m.Number)
		}
		if _, err := catalog.Prune(t.Context(), w.store, catalog.Policy{Now: true}, later(), false); err != nil {
			t.Fatal(err)
		}
		for _, key := range w.keys() {
			number, name, _ := strings.Cut(key, "/")
			if (strings.HasSuffix(number, "1") || strings.HasSuffix(number, "7")) && name != "manifest.json" {
				t.Errorf("cut at %d: %s is left", at, key)
			}
		}
		w.check()
		if done := w.publish(nil); !done.Unchanged {
			t.Errorf("cut at %d: published again", at)
		}
	}
}
