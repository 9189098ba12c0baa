package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/index"
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
	asOf, err := x.AsOf(ctx)
	if err == nil && asOf.IsZero() && !f.never {
		a.fromCatalog(ctx, p, x)
	}
	if err == nil && (f.now || !f.never && time.Since(asOf) > index.DefaultMaxAge) {
		_, err = x.Refresh(ctx)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// openIndex opens the index in the user's cache, or one in memory where there is no place for it.
func (a *app) openIndex(ctx context.Context, p place) (*index.Index, error) {
	x, err := index.Open(ctx, p.tracker, index.Options{Dir: a.cacheDir("index")})
	if err != nil {
		a.warn("%v; the answer is made without one", err)
		return index.Memory(ctx, p.tracker, index.Options{})
	}
	return x, nil
}

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
