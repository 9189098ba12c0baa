package dataset

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// heap keeps the most that was seen to be alive.
type heap struct{ most uint64 }

func (h *heap) look() {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	h.most = max(h.most, now.HeapAlloc)
}

// TestMemoryAtManyColumns writes 1,000 columns, which is where the pages that are being filled take most.
func TestMemoryAtManyColumns(t *testing.T) {
	const columns, batchRows, batches = 1000, 500, 40
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wide := make(Table, columns)
	var writing heap
	d, _, err := Stage(t.Context(), s, oneSource(), func(ctx context.Context, w *Writer) error {
		for batch := range batches {
			for i := range wide {
				values := make([]int64, batchRows)
				for row := range values {
					values[row] = int64(batch*batchRows+row) * int64(i+1) * 2654435761
				}
				wide[i] = Column{Name: fmt.Sprint("c", i), Values: values}
			}
			if err := w.WriteTable(ctx, Train, wide); err != nil {
				return err
			}
			writing.look()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const limit = 384 << 20
	if rows := d.Commit.Splits[Train].Rows; rows != batchRows*batches || writing.most > limit {
		t.Errorf("%d rows, %d MiB; want %d MiB at most", rows, writing.most>>20, limit>>20)
	}
}
