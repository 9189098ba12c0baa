package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/heirloom-ml/heirloom/store"
)

// Head returns the first n rows that Batches would return, each as one JSON value
// for each column: null, a boolean, number or text, an array or an object. Times
// are text, bytes base64, decimals text; a float that JSON cannot write is the
// text NaN, Infinity or -Infinity. Errors are those of Batches.
func (r *Reader) Head(ctx context.Context, n int64, opts *ReadOptions) (columns []string, rows [][]json.RawMessage, err error) {
	if opts == nil {
		opts = new(ReadOptions)
	}
	at, err := r.indices(opts.Columns)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range at {
		columns = append(columns, r.schema.Field(i).Name)
	}
	some := *opts
	if some.BatchRows <= 0 && n < defaultBatchRows {
		some.BatchRows = max(n, 1)
	}
	for batch, err := range r.Batches(ctx, &some) {
		if err != nil {
			return nil, nil, err
		}
		for i := range min(int(batch.NumRows()), int(n)-len(rows)) {
			row, err := batch.row(i)
			if err != nil {
				return nil, nil, failure("read", r.dir, store.ErrUnsupported, err)
			}
			rows = append(rows, row)
		}
		if int64(len(rows)) >= n {
			break
		}
	}
	return columns, rows, nil
}

// row is row number i as JSON.
func (b Batch) row(i int) ([]json.RawMessage, error) {
	row := make([]json.RawMessage, 0, b.NumCols())
	for _, column := range b.Columns() {
		value := column.GetOneForMarshal(i)
		if number, ok := value.(float32); ok {
			value = floatText(float64(number), value)
		}
		if number, ok := value.(float64); ok {
			value = floatText(number, value)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if !json.Valid(text) {
			return nil, errors.New("a value that is no JSON")
		}
		row = append(row, bytes.TrimSpace(text))
	}
	return row, nil
}

// floatText replaces what JSON has no number for.
func floatText(number float64, value any) any {
	switch {
	case math.IsNaN(number):
		return "NaN"
	case math.IsInf(number, 1):
		return "Infinity"
	case math.IsInf(number, -1):
		return "-Infinity"
	}
	return value
}
