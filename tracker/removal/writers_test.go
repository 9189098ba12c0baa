package removal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

// TestWritersLoseNothing writes to a run while it is deleted and purged: what was begun after the deletion and
// acknowledged is there in the end.
func TestWritersLoseNothing(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		for range storetest.Rounds(400) {
			writeMeanwhile(t, t.TempDir())
		}
	})
	t.Run("s3", func(t *testing.T) {
		server := servers.MinIO(t)
		for round := range storetest.Rounds(100) {
			writeMeanwhile(t, server.URL(fmt.Sprint("writers/", round)))
		}
	})
}

// facts are what writers were told is kept, by the moment at which they began to write it.
type facts struct {
	mu    sync.Mutex // guards late
	late  []string
	after atomic.Bool // the run was deleted
}

func writeMeanwhile(t *testing.T, url string) {
	t.Helper()
	s := newScene(t, url, nil)
	s.seed()
	var known facts
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for writer := range 3 {
		wg.Go(func() { known.write(ctx, t, newScene(t, url, nil), writer) })
	}
	s.delete()
	known.after.Store(true)
	purged := 0
	for range 8 { // most are refused, as the run changes all the time
		_, err := s.ledger.Purge(t.Context(), run, removal.PurgeOptions{})
		if err == nil {
			purged++
			break
		}
		if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	if _, err := s.ledger.Undo(t.Context(), run, ""); err != nil && !errors.Is(err, store.ErrNotExist) {
		t.Error(err)
	}
	known.verify(t, s, purged)
}

// write records one fact after the other.
func (f *facts) write(ctx context.Context, t *testing.T, s *scene, writer int) {
	for i := 0; ctx.Err() == nil; i++ {
		late := f.after.Load()
		fact := fmt.Sprintf("w%d-%d", writer, i)
		var err error
		switch i % 3 {
		case 0:
			err = s.tracker.AddMetadata(t.Context(), run, pyjson.NewObject(pyjson.Member{Key: fact, Value: true}))
		case 1:
			err = s.tracker.AddArtifact(t.Context(), run, tracker.Artifact{Name: fact, Path: "x"})
		case 2:
			err = s.tracker.AddSource(t.Context(), run, tracker.Source{ID: tracker.RunID("in-" + fact), Role: tracker.RoleInput})
		}
		if err != nil {
			t.Error(err)
			return
		}
		if late {
			f.mu.Lock()
			f.late = append(f.late, fact)
			f.mu.Unlock()
		}
	}
}

// verify reads the run, which is there if anything late was written.
func (f *facts) verify(t *testing.T, s *scene, purged int) {
	t.Helper()
	have := map[string]bool{}
	found, err := s.tracker.Run(t.Context(), run)
	if err != nil && (len(f.late) > 0 || !errors.Is(err, store.ErrNotExist)) {
		t.Errorf("%d facts were acknowledged, and the run cannot be read: %v", len(f.late), err)
		return
	}
	if err == nil {
		for key := range found.Metadata.All() {
			have[key] = true
		}
		for _, a := range found.Artifacts {
			have[a.Name] = true
		}
		for _, source := range found.Sources {
			have[strings.TrimPrefix(string(source.ID), "in-")] = true
		}
	}
	for _, fact := range f.late {
		if !have[fact] {
			t.Errorf("%s was acknowledged and is lost (purged %d times)", fact, purged)
		}
	}
}

// TestWrittenWhilePurged holds a purge at its first deletion, writes, and lets it go on.
func TestWrittenWhilePurged(t *testing.T) {
	url := t.TempDir()
	reached, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := newScene(t, url, func(_ context.Context, r store.Request, do func() error) error {
		if r.Op == "delete" {
			once.Do(func() {
				close(reached)
				<-proceed
			})
		}
		return do()
	})
	s.seed()
	s.delete()
	var gone removal.Gone
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		gone, err = s.ledger.Purge(t.Context(), run, removal.PurgeOptions{})
	}()
	<-reached
	other := newScene(t, url, nil)
	if other.shown() {
		t.Error("a run that is being purged is shown")
	}
	if _, undo := other.ledger.Undo(t.Context(), run, ""); !errors.Is(undo, store.ErrConflict) {
		t.Errorf("undo meanwhile: error %v, want ErrConflict", undo)
	}
	if _, again := other.ledger.Delete(t.Context(), run, removal.Why{}); !errors.Is(again, store.ErrConflict) {
		t.Errorf("delete meanwhile: error %v, want ErrConflict", again)
	}
	check(t, other.tracker.AddMetadata(t.Context(), run, pyjson.NewObject(pyjson.Member{Key: "late", Value: true})))
	check(t, other.store.Put(t.Context(), other.output("late.bin"), []byte("late")))
	close(proceed)
	<-done
	if err != nil || gone.Left != 2 {
		t.Fatalf("purged %+v, error %v, want 2 objects left", gone, err)
	}
	found, err := other.tracker.Run(t.Context(), run)
	if err != nil || found.Metadata.Len() != 1 || len(found.Artifacts)+len(found.Sources)+len(found.Attempts) > 0 {
		t.Errorf("left is %+v, error %v, want what was written late alone", found, err)
	}
	if _, err := other.store.Get(t.Context(), other.output("late.bin")); err != nil {
		t.Error(err)
	}
}
