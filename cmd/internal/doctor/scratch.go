package doctor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	clearTimeout  = time.Minute // also when the command was interrupted
	clearParallel = 16
)

// Scratch is a corner of a store that is ours until Clear.
type Scratch struct {
	Prefix store.Key // heirloom/<purpose>/<random>

	store *store.Store
	above string // of a local store: the nearest directory above that was there before
}

// NewScratch chooses a corner of s that nobody else has. Nothing is written yet.
func NewScratch(s *store.Store, purpose string) *Scratch {
	var id [8]byte
	rand.Read(id[:]) // never fails
	c := &Scratch{Prefix: store.Key("heirloom").Join(purpose, hex.EncodeToString(id[:])), store: s}
	if dir, ok := s.LocalPath(""); ok {
		c.above = existing(dir)
	}
	return c
}

// Sub is the store below the corner, or below a name in it.
func (c *Scratch) Sub(name string) *store.Store {
	if name == "" {
		return c.store.Sub(c.Prefix)
	}
	return c.store.Sub(c.Prefix.Join(name))
}

// Clear removes all that lies in the corner, and the directories of a local store that were made for it, even where
// ctx has ended. The error says how much is left.
func (c *Scratch) Clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	if err := empty(ctx, c.Sub("")); err != nil {
		return fmt.Errorf("clean up below %s: %w", c.store.KeyURL(c.Prefix), err)
	}
	c.removeDirs()
	return nil
}

// empty deletes every object of s, and what uploads that were broken off have left.
func empty(ctx context.Context, s *store.Store) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clearParallel)
	for o, err := range s.List(ctx, "") {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error {
			if err := s.Delete(ctx, o.Key); !errors.Is(err, store.ErrNotExist) {
				return err
			}
			return nil
		})
	}
	for u, err := range s.Unfinished(ctx, "") {
		if err == nil {
			err = s.Abort(ctx, u)
		}
		if err != nil {
			return errors.Join(err, group.Wait())
		}
	}
	return group.Wait()
}

// removeDirs takes away the directories that were made for the corner, as far as they are empty.
func (c *Scratch) removeDirs() {
	dir, ok := c.store.LocalPath("")
	if !ok {
		return
	}
	for dir != c.above && os.Remove(dir) == nil { // fails on what others have put there
		dir = filepath.Dir(dir)
	}
}

// existing is the nearest directory that exists, from dir upward.
func existing(dir string) string {
	for {
		_, err := os.Stat(dir)
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		return dir
	}
}
