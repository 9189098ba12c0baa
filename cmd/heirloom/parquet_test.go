package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// parquet FILE ROWS [COLUMN]: makes a Parquet file with a column of numbers, called n if it is not named.
func parquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: parquet FILE ROWS [COLUMN]")
	}
	rows, err := strconv.Atoi(args[1])
	ts.Check(err)
	values := make([]int64, rows)
	for i := range values {
		values[i] = int64(i)
	}
	column := dataset.Column{Name: "n", Values: values}
	if len(args) == 3 {
		column.Name = args[2]
	}
	ctx := context.Background()
	s, err := store.Open(ctx, "mem://", nil)
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	spec := dataset.Spec{Sources: []dataset.Source{{URI: "u", Version: "1"}}}
	d, _, err := dataset.Stage(ctx, s, spec, func(ctx context.Context, w *dataset.Writer) error {
		return w.WriteTable(ctx, dataset.Train, dataset.Table{column})
	})
	ts.Check(err)
	m, err := d.Manifest(ctx, s, dataset.Train)
	ts.Check(err)
	body, err := s.Get(ctx, d.Commit.Splits[dataset.Train].Dir.Join(m.Files[0].Name))
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, body, 0o666))
}
