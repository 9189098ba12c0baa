package dataset

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/heirloom-ml/heirloom/store"
)

func oneSource() Spec { return Spec{Sources: []Source{{URI: "u", Version: "1"}}} }

func counted(from, to int) Table {
	var values []int64
	for i := from; i < to; i++ {
		values = append(values, int64(i))
	}
	return Table{{Name: "n", Values: values}}
}

// TestRowGroupsAndParts lowers the limits: 100 rows of a group, and files of
// about a kilobyte.
func TestRowGroupsAndParts(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	const rows, batch = 5000, 130
	d, _, err := Stage(t.Context(), s, oneSource(), func(ctx context.Context, w *Writer) error {
		w.limits = limits{groupRows: 100, groupBytes: 1 << 20, partBytes: 4096, parts: 1000}
		for from := 0; from < rows; from += batch {
			if err := w.WriteTable(ctx, Train, counted(from, min(from+batch, rows))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files := manifestOf(t, s, d).Files
	if len(files) < 3 {
		t.Errorf("%d files, want several", len(files))
	}
	for i, file := range files {
		if min := int(file.Rows+99) / 100; file.RowGroups < min {
			t.Errorf("file %d has %d rows in %d row groups, want %d at least", i, file.Rows, file.RowGroups, min)
		}
		if i < len(files)-1 && (file.Bytes < 4096 || file.Bytes > 16384) {
			t.Errorf("file %d has %d bytes", i, file.Bytes)
		}
		if i > 0 && file.Name <= files[i-1].Name {
			t.Errorf("%s follows %s", file.Name, files[i-1].Name)
		}
	}
	r, err := Open(t.Context(), s, d.Commit.Splits[Train].Dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadTable(t.Context(), nil)
	if err != nil || got.Rows() != rows || r.Rows() != rows {
		t.Fatalf("%d rows read, %d in the footers, %v; want %d", got.Rows(), r.Rows(), err, rows)
	}
	for i, n := range got[0].Values.([]int64) {
		if n != int64(i) {
			t.Fatalf("row %d holds %d", i, n)
		}
	}
}

// TestGroupsEndBySize gives the bytes of a group, not its rows, the last word.
func TestGroupsEndBySize(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := Stage(t.Context(), s, oneSource(), func(ctx context.Context, w *Writer) error {
		w.limits = limits{groupRows: 1000, groupBytes: 1, partBytes: 1 << 30, parts: 1}
		return errors.Join(w.WriteTable(ctx, Train, counted(0, 10)), w.WriteTable(ctx, Train, counted(10, 20)))
	})
	if err != nil {
		t.Fatal(err)
	}
	// Pages that are not complete are not counted, so that the bound is a lower one.
	if f := manifestOf(t, s, d).Files; len(f) != 1 || f[0].Rows != 20 {
		t.Errorf("files: %+v", f)
	}
}

// TestStoreFails lets each request of a staging fail in turn: an error, no
// commit, no writer left waiting, and the next attempt succeeds. Only that a
// lease is given back may fail unseen.
func TestStoreFails(t *testing.T) {
	broken := errors.New("the wire is cut")
	for failing := int64(1); ; failing++ {
		var n atomic.Int64
		var cut atomic.Bool
		opts := &store.Options{MaxAttempts: 1, Intercept: func(_ context.Context, r store.Request, do func() error) error {
			if strings.HasPrefix(r.Key, "heirloom/leases/") && strings.HasSuffix(r.Key, endSuffix) {
				return do()
			}
			if n.Add(1) == failing {
				cut.Store(true)
				return broken
			}
			return do()
		}}
		s, err := store.Open(t.Context(), "mem://", opts)
		if err != nil {
			t.Fatal(err)
		}
		write := func(ctx context.Context, w *Writer) error { return w.WriteTable(ctx, Train, counted(0, 1000)) }
		_, _, err = Stage(t.Context(), s, oneSource(), write)
		if !cut.Load() {
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			if failing < 8 {
				t.Errorf("only %d requests were made to fail", failing-1)
			}
			return
		}
		if !errors.Is(err, broken) {
			t.Errorf("request %d failed: Stage = %v", failing, err)
		}
		d, _, err := Stage(t.Context(), s, oneSource(), write)
		if err != nil {
			t.Fatalf("after request %d failed: %v", failing, err)
		}
		if r, err := Open(t.Context(), s, d.Commit.Splits[Train].Dir); err != nil || r.Rows() != 1000 {
			t.Errorf("after request %d failed: %v", failing, err)
		}
	}
}

func TestCancelledStage(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err = Stage(ctx, s, oneSource(), func(ctx context.Context, w *Writer) error {
		if err := w.WriteTable(ctx, Train, counted(0, 10)); err != nil {
			return err
		}
		cancel()
		return w.WriteTable(ctx, Train, counted(10, 20))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Stage = %v", err)
	}
	for object, err := range s.List(t.Context(), "intermediate") {
		t.Errorf("%s is visible (%v)", object.Key, err)
	}
}

func TestPartName(t *testing.T) {
	for _, epoch := range []int64{0, 1, maxEpoch} {
		uuid, err := newUUID(epoch)
		if err != nil {
			t.Fatal(err)
		}
		name := partName(7, uuid, zstdCompression)
		if got, ok := partEpoch(name); !ok || got != epoch {
			t.Errorf("partEpoch(%s) = %d, %v; want %d", name, got, ok, epoch)
		}
		if !strings.HasPrefix(name, "part-00007-") {
			t.Errorf("name of part 7: %s", name)
		}
	}
	if _, err := newUUID(maxEpoch + 1); err == nil {
		t.Error("an epoch of 13 digits is taken")
	}
	spark := "part-00000-e4f4a0c4-8f2e-4b5f-9a64-5c24c8e0d2a1-c000.snappy.parquet"
	if _, ours := partEpoch(spark); ours {
		t.Errorf("%s is taken for ours", spark)
	}
}

func TestDictionaryPaysForRepeatedStrings(t *testing.T) {
	var few, many []string
	for i := range 100 {
		few, many = append(few, strings.Repeat("x", i%25)), append(many, strings.Repeat("x", i%26))
	}
	batch, err := Table{{Name: "few", Values: few}, {Name: "many", Values: many}, {Name: "n", Values: make([]int64, 100)}}.record()
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	if got := dictionaryColumns(batch); len(got) != 1 || got[0] != "few" {
		t.Errorf("dictionaries for %v, want for few alone", got)
	}
}

// TestManyColumnsTakeLittleMemory would allocate 3 MB for each of them if every
// page had an encoder of its own.
func TestManyColumnsTakeLittleMemory(t *testing.T) {
	var wide Table
	for i := range 100 {
		wide = append(wide, Column{Name: fmt.Sprint("c", i), Values: make([]int32, 100)})
	}
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Stage(t.Context(), s, oneSource(), func(ctx context.Context, w *Writer) error {
		return w.WriteTable(ctx, Train, wide)
	}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 50 {
		t.Errorf("%d MiB were allocated", got)
	}
}

// TestTooManyParts partitions by a column of many values, far apart.
func TestTooManyParts(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := oneSource()
	spec.Files.PartitionBy = []string{"n"}
	_, _, err = Stage(t.Context(), s, spec, func(ctx context.Context, w *Writer) error {
		w.limits.parts = 70
		rows := append(counted(0, 70), Column{Name: "x", Values: make([]int64, 70)})
		return errors.Join(w.WriteTable(ctx, Train, rows), w.WriteTable(ctx, Train, rows))
	})
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "sort the rows") {
		t.Errorf("Stage = %v", err)
	}
}
