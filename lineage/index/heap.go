package index

import (
	"context"
	"strings"
)

// heapRows is how many rows of a table are inserted by one statement, which costs less than a statement for each.
const heapRows = 32

// heap gathers rows of one table.
type heap struct {
	insert string // the statement up to VALUES
	args   []any
	rows   int
}

func newHeap(insert string) *heap { return &heap{insert: insert} }

// add puts a row on the heap, and the heap into the table once it is high enough.
func (h *heap) add(ctx context.Context, w *writer, row ...any) error {
	h.args = append(h.args, row...)
	h.rows++
	if h.rows < heapRows {
		return nil
	}
	return h.write(ctx, w, h.rows)
}

// flush puts into the table what is left, row by row.
func (h *heap) flush(ctx context.Context, w *writer) error {
	for h.rows > 0 {
		if err := h.write(ctx, w, 1); err != nil {
			return err
		}
	}
	return nil
}

// write inserts the first rows.
func (h *heap) write(ctx context.Context, w *writer, rows int) error {
	columns := len(h.args) / h.rows
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	args := h.args[:rows*columns]
	if err := w.exec(ctx, h.insert+" VALUES "+row+strings.Repeat(", "+row, rows-1), args...); err != nil {
		return err
	}
	h.args, h.rows = h.args[len(args):], h.rows-rows
	if h.rows == 0 {
		h.args = h.args[:0:0]
	}
	return nil
}
