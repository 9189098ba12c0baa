package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/tracker"
)

// freshness is how young an index must be to answer.
type freshness struct {
	now   bool // brought up to date in any case
	never bool // taken as it is
}

func (f *freshness) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.now, "fresh", false, "look for what changed, however young the index is")
	c.Flags().BoolVar(&f.never, "no-refresh", false, "answer from the index as it is")
}

// index opens what is known of a place's runs, as young as was asked for. The caller closes it.
func (a *app) index(ctx context.Context, c *cobra.Command, p place, f freshness) (*index.Index, error) {
	if f.now && f.never {
		return nil, usagef(c.CommandPath(), "--fresh and --no-refresh contradict each other")
	}
	x, err := a.openIndex(ctx, p)
	if err != nil {
		return nil, err
	}
	err = a.refresh(ctx, p, x, f)
	if index.IsFileError(err) {
		x, err = a.instead(ctx, p, x, err)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// ask answers from the index of a place. Should its file turn out to be damaged or the disk to be full, answer is
// called once more with an index that is kept nowhere: it prints nothing before it has all that it asks for.
func (a *app) ask(ctx context.Context, c *cobra.Command, p place, f freshness, answer func(*index.Index) error) error {
	x, err := a.index(ctx, c, p, f)
	if err != nil {
		return err
	}
	defer func() { x.Close() }()
	err = answer(x)
	if index.IsFileError(err) {
		if x, err = a.instead(ctx, p, x, err); err == nil {
			err = answer(x)
		}
	}
	return err
}

// refresh brings an index up to date if it is too old for what was asked.
func (a *app) refresh(ctx context.Context, p place, x *index.Index, f freshness) error {
	if f.never {
		return nil
	}
	asOf, err := x.AsOf(ctx)
	if err == nil && asOf.IsZero() {
		a.fromCatalog(ctx, p, x)
	}
	switch {
	case err != nil:
		return err
	case f.now:
		_, err = x.Refresh(ctx)
	case a.outdated(p, x, asOf):
		_, err = x.CatchUp(ctx)
	default:
		return nil
	}
	if err == nil {
		err = x.CatchUpAliases(ctx, p.aliases())
	}
	return err
}

// granularity is how far the time of a directory may lie behind the clock.
const granularity = 20 * time.Millisecond

// outdated says whether an index must be brought up to date: because of its age, because this user has written since,
// or, on a local disk, because a run has come or gone.
func (a *app) outdated(p place, x *index.Index, asOf time.Time) bool {
	if age := time.Since(asOf); age < 0 || age > cmp.Or(a.maxAge, index.DefaultMaxAge) || !x.Touched().Before(asOf) {
		return true
	}
	root, ok := p.tracker.Store().LocalPath("")
	if !ok {
		return false
	}
	info, err := os.Stat(root)
	return err != nil || !info.ModTime().Before(asOf.Add(-granularity))
}

// openIndex opens the index in the user's cache, or one in memory where there is no place for it.
func (a *app) openIndex(ctx context.Context, p place) (*index.Index, error) {
	x, err := index.Open(ctx, p.tracker, index.Options{Dir: a.indexDir(), Progress: a.indexProgress()})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.warn("%v; the answer is made without one", err)
		return index.Memory(ctx, p.tracker, index.Options{})
	}
	return x, nil
}

// instead closes an index whose file failed, and gives one in memory. A damaged file is removed.
func (a *app) instead(ctx context.Context, p place, broken *index.Index, cause error) (*index.Index, error) {
	broken.Close()
	a.warn("%v; the answer is made without an index", cause)
	if index.IsDamage(cause) {
		_ = index.Remove(p.tracker, a.indexDir()) // the next command tries again
	}
	x, err := index.Memory(ctx, p.tracker, index.Options{})
	if err != nil {
		return broken, err
	}
	if _, err = x.Refresh(ctx); err == nil {
		err = x.CatchUpAliases(ctx, p.aliases())
	}
	return x, err
}

// knownIndex opens the index of a place if there is one that was ever filled, young enough to answer; nil if not. It is
// for answers that can be had from the store as well.
func (a *app) knownIndex(ctx context.Context, c *cobra.Command, p place) *index.Index {
	if !index.Exists(p.tracker, a.indexDir()) {
		return nil
	}
	x, err := index.Open(ctx, p.tracker, index.Options{Dir: a.indexDir()})
	if err != nil {
		return nil
	}
	asOf, err := x.AsOf(ctx)
	if err == nil && !asOf.IsZero() {
		err = a.refresh(ctx, p, x, freshness{})
	}
	if err != nil || asOf.IsZero() {
		x.Close()
		return nil
	}
	return x
}

// wrote notes that this command has changed a root.
func (a *app) wrote(t *tracker.FileTracker) {
	_ = index.Touch(t, a.indexDir()) // at worst an answer is half a minute old
}

// indexDir is where indexes are kept, "" where no place is known.
func (a *app) indexDir() string { return a.cacheDir("index") }

// cacheDir is a directory of the user's cache, "" where none is known.
func (a *app) cacheDir(name string) string {
	dir := a.getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		home := a.getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "heirloom", name)
}
