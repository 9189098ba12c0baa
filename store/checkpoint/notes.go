package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const deletesAtOnce = 8

// Notes are what is kept in a store about its checkpoints: which are pinned, and which deletions were begun and
// ended.
type Notes struct {
	s   *store.Store
	dir store.Key
}

// NotesIn keeps the notes about the checkpoints of s in the directory dir of the same store.
func NotesIn(s *store.Store, dir store.Key) *Notes { return &Notes{s: s, dir: dir} }

// note is the body of an object: what it is about, and for a deletion what belongs to it.
type note struct {
	Path  store.Key     `json:"path"`
	Files []notedObject `json:"files,omitempty"` // in the order in which they go
}

type notedObject struct {
	Key     store.Key `json:"key"`
	Version string    `json:"version"`
	Size    int64     `json:"size"`
}

func (n *Notes) pin(path store.Key) store.Key {
	return n.dir.Join("pinned", store.EncodeRun(string(path))+".json")
}

func (n *Notes) deletion(path store.Key) store.Key {
	return n.dir.Join("deleting", store.EncodeRun(string(path))+".json")
}

func (n *Notes) deleted(path store.Key) store.Key {
	return n.dir.Join("deleted", store.EncodeRun(string(path))+".json")
}

// Pin keeps the checkpoint at path until Unpin. Doing so again changes nothing.
func (n *Notes) Pin(ctx context.Context, path store.Key) error {
	return n.put(ctx, n.pin(path), note{Path: path})
}

// Unpin takes a pin away; that there was none is no error.
func (n *Notes) Unpin(ctx context.Context, path store.Key) error {
	return gone(n.s.Delete(ctx, n.pin(path)))
}

// Pinned is the set of all paths that are pinned.
func (n *Notes) Pinned(ctx context.Context) (map[store.Key]bool, error) {
	pinned := map[store.Key]bool{}
	err := n.each(ctx, "pinned", func(_ store.Key, about note) error {
		pinned[about.Path] = true
		return nil
	})
	return pinned, err
}

// Delete removes a checkpoint: first it notes what it will do, then the markers go, without which no reader takes it
// for whole, then the rest. After a crash on the way Resume goes on. A file that was written anew meanwhile stays.
func (n *Notes) Delete(ctx context.Context, c *Checkpoint) error {
	about := note{Path: c.Path}
	for _, marker := range []bool{true, false} {
		for _, o := range c.Files {
			if slices.Contains(c.markers, o.Key) == marker {
				about.Files = append(about.Files, notedObject{Key: o.Key, Version: o.Version, Size: o.Size})
			}
		}
	}
	if err := n.put(ctx, n.deletion(c.Path), about); err != nil {
		return err
	}
	return n.finish(ctx, n.deletion(c.Path), about, len(c.markers))
}

// Resume ends the deletions that were begun, and returns the paths of their checkpoints, sorted.
func (n *Notes) Resume(ctx context.Context) ([]store.Key, error) {
	var done []store.Key
	err := n.each(ctx, "deleting", func(key store.Key, about note) error {
		done = append(done, about.Path)
		return n.finish(ctx, key, about, len(about.Files)) // in order, as it is not known how far it came
	})
	slices.Sort(done)
	return done, err
}

// Begun lists the paths of the checkpoints whose deletion was begun, sorted.
func (n *Notes) Begun(ctx context.Context) ([]store.Key, error) {
	var begun []store.Key
	err := n.each(ctx, "deleting", func(_ store.Key, about note) error {
		begun = append(begun, about.Path)
		return nil
	})
	slices.Sort(begun)
	return begun, err
}

// Deleted is the set of the paths of all checkpoints whose deletion was ended. One of them may have been written anew since.
func (n *Notes) Deleted(ctx context.Context) (map[store.Key]bool, error) {
	deleted := map[store.Key]bool{}
	for o, err := range n.s.List(ctx, string(n.dir.Join("deleted"))+"/") {
		if err != nil {
			return nil, err
		}
		path, ok := store.DecodeRun(strings.TrimSuffix(o.Key.Base(), ".json")) // of which there may be thousands to read
		if !ok {
			about, err := n.get(ctx, o.Key)
			if err != nil {
				return nil, err
			}
			path = string(about.Path)
		}
		deleted[store.Key(path)] = true
	}
	return deleted, nil
}

// finish removes the files of a note, the first ones in order, the others several at once, and then the note, of which
// there stays that it was so: what is missing is not lost.
func (n *Notes) finish(ctx context.Context, key store.Key, about note, ordered int) error {
	ordered = min(ordered, len(about.Files))
	for _, o := range about.Files[:ordered] {
		if err := n.remove(ctx, o); err != nil {
			return fmt.Errorf("delete checkpoint %s: %w", about.Path, err)
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(deletesAtOnce)
	for _, o := range about.Files[ordered:] {
		group.Go(func() error { return n.remove(groupCtx, o) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("delete checkpoint %s: %w", about.Path, err)
	}
	if err := n.put(ctx, n.deleted(about.Path), note{Path: about.Path}); err != nil {
		return err
	}
	return gone(n.s.Delete(ctx, key))
}

// remove deletes an object unless it is another than was noted.
func (n *Notes) remove(ctx context.Context, o notedObject) error {
	now, err := n.s.Stat(ctx, o.Key)
	if err != nil {
		return gone(err)
	}
	if now.Version != o.Version || now.Size != o.Size {
		return nil
	}
	return gone(n.s.Delete(ctx, o.Key))
}

func gone(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

func (n *Notes) put(ctx context.Context, key store.Key, about note) error {
	body, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return n.s.Put(ctx, key, body)
}

// each reads the notes of one kind in the order of their keys. One that is taken away meanwhile, or that is none, is
// passed over.
func (n *Notes) each(ctx context.Context, kind string, do func(key store.Key, about note) error) error {
	var keys []store.Key
	for o, err := range n.s.List(ctx, string(n.dir.Join(kind))+"/") {
		if err != nil {
			return err
		}
		keys = append(keys, o.Key)
	}
	for _, key := range keys {
		about, err := n.get(ctx, key)
		if err != nil {
			return err
		}
		if about.Path == "" {
			continue
		}
		if err := do(key, about); err != nil {
			return err
		}
	}
	return nil
}

// get reads a note, of which the path is "" where it was taken away meanwhile, or is none.
func (n *Notes) get(ctx context.Context, key store.Key) (about note, err error) {
	body, err := n.s.Get(ctx, key)
	if err != nil || json.Unmarshal(body, &about) != nil {
		return note{}, gone(err)
	}
	return about, nil
}
