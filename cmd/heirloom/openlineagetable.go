package main

import (
	"context"
	"errors"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store"
)

// eventTable is what the store knows of the dataset with a fingerprint: columns by the manifest of train, which those of the other
// splits equal, and sums by the commit. Nil if the store has none, or what it has cannot be read, which is a warning.
func (a *app) eventTable(ctx context.Context, p place, fingerprint string) *openlineage.Table {
	d, _, err := dataset.Lookup(ctx, p.store, fingerprint)
	if err != nil {
		if !errors.Is(err, store.ErrNotExist) && !errors.Is(err, store.ErrInvalid) {
			a.warn("%v; its columns are not told", err)
		}
		return nil
	}
	var table openlineage.Table
	for _, split := range d.Commit.Splits {
		table.Rows, table.Bytes, table.Files = table.Rows+split.Rows, table.Bytes+split.Bytes, table.Files+int64(split.Files)
	}
	manifest, err := d.Manifest(ctx, p.store, dataset.Train)
	if err != nil {
		a.warn("%v; its columns are not told", err)
		return &table
	}
	for _, list := range [][]dataset.Field{manifest.Schema, manifest.Partition} {
		for _, f := range list {
			table.Fields = append(table.Fields, openlineage.Field{Name: f.Name, Type: f.Type})
		}
	}
	return &table
}
