package main

import (
	"context"
	"errors"

	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
)

// fromCatalog fills an index that was never refreshed from the newest version of the catalog, so that a refresh reads
// only what changed since. Where there is none, or it cannot be used, the index stays as it is, and is made from the
// records themselves.
func (a *app) fromCatalog(ctx context.Context, p place, x *index.Index) {
	_, _, err := catalog.Fill(ctx, p.store, x)
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, store.ErrNotExist), errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrPermission): // of which the records tell in their turn
	default:
		a.warn("%v; the index is made without the catalog", err)
	}
}
