package index_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// counted is a tracker of runs that ended long ago, and an index of it.
type counted struct {
	*testing.T
	store   *store.Store
	tracker *tracker.FileTracker
	index   *index.Index
}

func newCounted(t *testing.T, url string, options *store.Options, runs int) *counted {
	t.Helper()
	s, err := store.Open(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &counted{T: t, store: s}
	later := func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	c.tracker = tracker.NewFileTracker(s.Sub("tracker"), &tracker.Options{Now: later, Journal: s.Sub("heirloom/journal")})
	var group errgroup.Group
	group.SetLimit(32)
	for i := range runs {
		group.Go(func() error { return c.tracker.AddMetadata(t.Context(), c.id(i), nil) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	c.index, err = index.Open(t.Context(), c.tracker, index.Options{Dir: t.TempDir(), Now: later})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.index.Close() })
	return c
}

func (c *counted) id(i int) tracker.RunID {
	return tracker.RunID(fmt.Sprintf("local://torchx/run-%05d", i))
}

// costs does something and compares the requests that it makes.
func (c *counted) costs(what string, do func(context.Context) (index.Refreshed, error), want map[string]int64, read int) {
	c.Helper()
	before := c.store.Stats().Requests
	done, err := do(c.Context())
	if err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	got := c.store.Stats().Requests
	for op, n := range before {
		if got[op] -= n; got[op] == 0 {
			delete(got, op)
		}
	}
	if !maps.Equal(got, want) || done.Read != read {
		c.Errorf("%s: %v and %d runs read, want %v and %d", what, got, done.Read, want, read)
	}
}

// TestRefreshOnS3 lists parts of a large root side by side, at the cost of one listing.
func TestRefreshOnS3(t *testing.T) {
	server := servers.MinIO(t)
	c := newCounted(t, server.URL("index"), &store.Options{Environ: server.Environ}, 1200)
	c.costs("the first", c.index.Refresh, map[string]int64{"list": 3, "get": 1200}, 1200) // 2 pages and the journal
	c.costs("nothing new", c.index.Refresh, map[string]int64{"list": 3}, 0)               // 2 parts of 600 and the journal
	c.everyday()
	if err := c.tracker.AddMetadata(t.Context(), c.id(1000), nil); err != nil {
		t.Fatal(err)
	}
	c.costs("one changed", c.index.Refresh, map[string]int64{"list": 4, "get": 2}, 1) // and the journal once more
}

// TestEverydayRefresh costs one request, and those of what has changed.
func TestEverydayRefresh(t *testing.T) {
	c := newCounted(t, "mem://", nil, 300)
	c.costs("the first", c.index.CatchUp, map[string]int64{"list": 2, "get": 300}, 300)
	c.everyday()
}

func (c *counted) everyday() {
	c.Helper()
	c.costs("nothing new", c.index.CatchUp, map[string]int64{"list": 1}, 0)
	if err := c.tracker.AddMetadata(c.Context(), c.id(7), nil); err != nil {
		c.Fatal(err)
	}
	c.costs("not announced", c.index.CatchUp, map[string]int64{"list": 1}, 0)
	for range 2 {
		if err := c.tracker.Announce(c.Context(), c.id(7)); err != nil {
			c.Fatal(err)
		}
	}
	c.costs("announced twice", c.index.CatchUp, map[string]int64{"list": 2, "get": 2}, 1)
	c.costs("nothing since", c.index.CatchUp, map[string]int64{"list": 1}, 0)
	n, err := c.tracker.StartAttempt(c.Context(), c.id(8), tracker.AttemptStart{})
	if err != nil {
		c.Fatal(err)
	}
	c.costs("begun", c.index.CatchUp, map[string]int64{"list": 2, "get": 2}, 1)
	c.costs("running", c.index.CatchUp, map[string]int64{"list": 2}, 0)
	code := 0
	if err := c.tracker.EndAttempt(c.Context(), c.id(8), n, tracker.AttemptEnd{State: tracker.Succeeded, ExitCode: &code}); err != nil {
		c.Fatal(err)
	}
	c.costs("ended", c.index.CatchUp, map[string]int64{"list": 2, "get": 3}, 1)
	c.costs("at rest", c.index.CatchUp, map[string]int64{"list": 1}, 0)
}

// TestOthersAreFoundOut lists the whole root again and again once it has held what the journal did not tell of.
func TestOthersAreFoundOut(t *testing.T) {
	c := newCounted(t, "mem://", nil, 3)
	c.costs("the first", c.index.CatchUp, map[string]int64{"list": 2, "get": 3}, 3)
	if err := c.tracker.AddMetadata(t.Context(), c.id(9), nil); err != nil {
		t.Fatal(err)
	}
	c.costs("not heard of", c.index.CatchUp, map[string]int64{"list": 1}, 0)
	c.costs("found", c.index.Refresh, map[string]int64{"list": 3, "get": 1}, 1)
	if err := c.tracker.AddMetadata(t.Context(), c.id(10), nil); err != nil {
		t.Fatal(err)
	}
	c.costs("looked for", c.index.CatchUp, map[string]int64{"list": 3, "get": 1}, 1)
}
