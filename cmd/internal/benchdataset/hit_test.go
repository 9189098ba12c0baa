package benchdataset

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// hits is how often a dataset is found again.
const hits = 1000

// hit stages a dataset of three splits on local disk and finds it again and again. The line says the median, and the
// requests of one; nothing of pyarrow or DuckDB compares.
func hit(t *testing.T) string {
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	spec := dataset.Spec{Sources: []dataset.Source{{URI: "rows@1", Version: "1"}}, Split: dataset.Split{Val: 0.1, Test: 0.1}}
	make := func(ctx context.Context, w *dataset.Writer) error {
		for _, split := range spec.Splits() {
			if err := w.WriteTable(ctx, split, dataset.Table{{Name: "id", Values: []int64{1, 2, 3}}}); err != nil {
				return err
			}
		}
		return nil
	}
	if _, _, err := dataset.Stage(t.Context(), s, spec, make); err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	before := s.Stats().Total()
	for range hits {
		begun := time.Now()
		if _, again, err := dataset.Stage(t.Context(), s, spec, make); err != nil || !again {
			t.Fatalf("hit %v, %v", again, err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return fmt.Sprintf("hit, %d requests\theirloom\t%.6f\t\t\t\t%d", (s.Stats().Total()-before)/hits, took[hits/2].Seconds(), hits)
}
