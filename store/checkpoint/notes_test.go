package checkpoint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

func TestPins(t *testing.T) {
	s := open(t, "mem://")
	notes := checkpoint.NotesIn(s, "heirloom/checkpoints")
	for range 2 {
		check(t, notes.Pin(t.Context(), "runs/r/checkpoints/a b-1.pt"))
	}
	check(t, notes.Pin(t.Context(), "runs/r/x"))
	check(t, s.Put(t.Context(), "heirloom/checkpoints/pinned/foreign", []byte("no note")))
	pinned, err := notes.Pinned(t.Context())
	check(t, err)
	if len(pinned) != 2 || !pinned["runs/r/checkpoints/a b-1.pt"] {
		t.Errorf("got %v", pinned)
	}
	for range 2 {
		check(t, notes.Unpin(t.Context(), "runs/r/x"))
	}
	if pinned, err = notes.Pinned(t.Context()); err != nil || len(pinned) != 1 {
		t.Errorf("got %v, %v", pinned, err)
	}
}

// What was deleted is remembered, however long its name is.
func TestDeleted(t *testing.T) {
	s := open(t, "mem://")
	notes := checkpoint.NotesIn(s, "heirloom/checkpoints")
	long := store.Key("runs/r/" + strings.Repeat("n", 220) + ".pt")
	for _, key := range []store.Key{"runs/r/step 1.pt", long} {
		check(t, s.Put(t.Context(), key, []byte("x")))
		object, err := s.Stat(t.Context(), key)
		check(t, err)
		check(t, notes.Delete(t.Context(), &checkpoint.Checkpoint{Path: key, Files: []store.Object{object}}))
	}
	deleted, err := notes.Deleted(t.Context())
	if err != nil || len(deleted) != 2 || !deleted["runs/r/step 1.pt"] || !deleted[long] {
		t.Errorf("got %v, %v", deleted, err)
	}
	if _, err := s.Stat(t.Context(), long); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

var errPower = errors.New("the power failed")

// failing is a memory store that fails every deletion once *left are done; -1 is never.
func failing(t *testing.T, left *int) *store.Store {
	t.Helper()
	var mu sync.Mutex // guards *left while deletions go on
	s, err := store.Open(t.Context(), "mem://", &store.Options{MaxAttempts: 1, Intercept: func(_ context.Context, r store.Request, do func() error) error {
		mu.Lock()
		fails := r.Op == "delete" && *left == 0
		if r.Op == "delete" && *left > 0 {
			*left--
		}
		mu.Unlock()
		if fails {
			return errPower
		}
		return do()
	}})
	check(t, err)
	return s
}

// A deletion that breaks off after any of its requests leaves nothing that looks whole, and is ended later.
func TestDeleteBreaksOff(t *testing.T) {
	for _, tr := range trees(t) {
		for stop := 1; ; stop++ {
			left := -1
			s := failing(t, &left)
			put(t, s, tr, "", 0)
			c, notes := find(t, s, "")[0], checkpoint.NotesIn(s, "notes")
			left = stop
			err := notes.Delete(t.Context(), c)
			if list := complete(find(t, s, "")); len(list) != 0 {
				t.Errorf("%s: after %d deletions %s still looks whole", tr.name, stop, list[0].Path)
			}
			left = -1
			done, resumeErr := notes.Resume(t.Context())
			check(t, resumeErr)
			for _, o := range c.Files {
				if _, err := s.Stat(t.Context(), o.Key); !errors.Is(err, store.ErrNotExist) {
					t.Errorf("%s: %s is still there: %v", tr.name, o.Key, err)
				}
			}
			if err == nil {
				break
			}
			if !errors.Is(err, errPower) || len(done) != 1 || done[0] != c.Path {
				t.Fatalf("%s: got %v, resumed %v", tr.name, err, done)
			}
		}
	}
}

// What a job wrote anew under the same name after the crash is not what was to go.
func TestResumeSparesNewFiles(t *testing.T) {
	left := -1
	s := failing(t, &left)
	tr := single("checkpoints/step-1.safetensors", checkpoint.Safetensors, 1, safetensors("w"))
	put(t, s, tr, "", 0)
	c := find(t, s, "")[0]
	left = 0
	if err := checkpoint.NotesIn(s, "notes").Delete(t.Context(), c); !errors.Is(err, errPower) {
		t.Fatalf("got %v", err)
	}
	left = -1
	notes := checkpoint.NotesIn(s, "notes")
	if begun, err := notes.Begun(t.Context()); err != nil || !slices.Equal(begun, []store.Key{c.Path}) {
		t.Fatalf("got %v, %v", begun, err)
	}
	check(t, s.Put(t.Context(), c.Path, safetensors("new")))
	_, err := notes.Resume(t.Context())
	check(t, err)
	if list := complete(find(t, s, "")); len(list) != 1 {
		t.Errorf("the new file is gone")
	}
	if begun, err := notes.Begun(t.Context()); err != nil || len(begun) != 0 {
		t.Errorf("got %v, %v", begun, err)
	}
}
