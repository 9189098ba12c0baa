package dataset_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// read checks that dir holds the rows of table(from, to).
func read(t *testing.T, s *store.Store, dir store.Key, from, to int) {
	t.Helper()
	r, err := dataset.Open(t.Context(), s, dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows() != int64(to-from) {
		t.Errorf("%s has %d rows, want %d", dir, r.Rows(), to-from)
	}
	got, err := r.ReadTable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := table(from, to); !slices.EqualFunc(got, want, equalColumns) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func equalColumns(a, b dataset.Column) bool {
	if a.Name != b.Name {
		return false
	}
	switch values := a.Values.(type) {
	case []int32:
		other, ok := b.Values.([]int32)
		return ok && slices.Equal(values, other)
	case []float32:
		other, ok := b.Values.([]float32)
		return ok && slices.Equal(values, other)
	case []string:
		other, ok := b.Values.([]string)
		return ok && slices.Equal(values, other)
	}
	return false
}

func TestReadWhatWasWritten(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		d := stage(t, s, spec())
		read(t, s, d.Commit.Splits[dataset.Train].Dir, 0, 300)
		read(t, s, d.Commit.Splits[dataset.Val].Dir, 300, 400)
	})
}

func TestEveryTypeOfColumn(t *testing.T) {
	s := openStore(t, "mem://", nil)
	all := dataset.Table{
		{Name: "i32", Values: []int32{-1 << 31, 0, 1<<31 - 1}},
		{Name: "i64", Values: []int64{-1 << 63, 0, 1<<63 - 1}},
		{Name: "u8", Values: []uint8{0, 1, 255}},
		{Name: "f32", Values: []float32{-1.5, 0, 3e38}},
		{Name: "f64", Values: []float64{-1.5, 0, 1e300}},
		{Name: "yes", Values: []bool{true, false, true}},
		{Name: "text", Values: []string{"", "ä", "\x00z"}},
	}
	one := dataset.Spec{Sources: []dataset.Source{{URI: "x", Version: "1"}}}
	d, _, err := dataset.Stage(t.Context(), s, one, func(ctx context.Context, w *dataset.Writer) error {
		return w.WriteTable(ctx, dataset.Train, all)
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Open(t.Context(), s, d.Commit.Splits[dataset.Train].Dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadTable(t.Context(), nil)
	if err != nil || mustJSON(t, got) != mustJSON(t, all) {
		t.Errorf("read %v (%v), want %v", got, err, all)
	}
	some, err := r.ReadTable(t.Context(), []string{"yes", "i32"})
	if err != nil || len(some) != 2 || mustJSON(t, some[0]) != mustJSON(t, all[5]) || mustJSON(t, some[1]) != mustJSON(t, all[0]) {
		t.Errorf("columns yes, i32: %v (%v)", some, err)
	}
	if _, err := r.ReadTable(t.Context(), []string{"none"}); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("a column that is not there: %v", err)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	s := openStore(t, "mem://", nil)
	d := stage(t, s, spec())
	r, err := dataset.Open(t.Context(), s, d.Commit.Splits[dataset.Train].Dir)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for batch, err := range r.Batches(t.Context(), &dataset.ReadOptions{BatchRows: 128, Columns: []string{"c"}}) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, batch.NumRows())
	}
	if !slices.Equal(sizes, []int64{128, 128, 44}) {
		t.Errorf("batches of %v rows", sizes)
	}
}

// TestEveryChangedByteIsFound changes each byte of a part in turn.
func TestEveryChangedByteIsFound(t *testing.T) {
	s := openStore(t, "mem://", nil)
	d := stage(t, s, spec())
	dir := d.Commit.Splits[dataset.Val].Dir
	key := dir.Join(manifest(t, s, d, dataset.Val).Files[0].Name)
	whole, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		spoilt := slices.Clone(whole)
		spoilt[i] ^= 1 << (i % 8)
		if err := s.Put(t.Context(), key, spoilt); err != nil {
			t.Fatal(err)
		}
		if err := readAll(t, s, dir); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), string(key)) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	longer := append(slices.Clone(whole), whole...)
	for _, length := range []int{0, 1, 4, 11, len(whole) / 2, len(whole) - 1, len(whole) + 1, len(longer)} {
		if err := s.Put(t.Context(), key, longer[:length]); err != nil {
			t.Fatal(err)
		}
		if err := readAll(t, s, dir); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", length, len(whole), err)
		}
	}
}

// TestDamageWithoutManifest changes each byte of a part that no manifest
// describes. There it may stay unseen, but must not end the process, and what
// the library makes of it names the file.
func TestDamageWithoutManifest(t *testing.T) {
	s := openStore(t, "mem://", nil)
	d := stage(t, s, spec())
	body, err := s.Get(t.Context(), d.Commit.Splits[dataset.Val].Dir.Join(manifest(t, s, d, dataset.Val).Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	const key = "foreign/part-00000.parquet"
	found := 0
	for i := range body {
		spoilt := slices.Clone(body)
		spoilt[i] ^= 1 << (i % 8)
		if err := s.Put(t.Context(), key, spoilt); err != nil {
			t.Fatal(err)
		}
		switch err := readAll(t, s, "foreign"); {
		case err == nil:
		case (!errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrUnsupported)) || !strings.Contains(err.Error(), key):
			t.Fatalf("byte %d changed: %v", i, err)
		default:
			found++
		}
	}
	if found < len(body)/2 {
		t.Errorf("%d of %d changes were found", found, len(body))
	}
}

func readAll(t *testing.T, s *store.Store, dir store.Key) error {
	r, err := dataset.Open(t.Context(), s, dir)
	if err != nil {
		return err
	}
	for _, err := range r.Batches(t.Context(), nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, s *store.Store, dir store.Key, part store.Key)
		want  error
	}{
		{"a directory that is not there", func(t *testing.T, s *store.Store, dir, part store.Key) {
			for _, key := range keys(t, s, string(dir)) {
				remove(t, s, store.Key(key))
			}
		}, store.ErrNotExist},
		{"no _SUCCESS", func(t *testing.T, s *store.Store, dir, part store.Key) {
			remove(t, s, dir.Join(dataset.SuccessName))
		}, dataset.ErrIncomplete},
		{"our files without a manifest", func(t *testing.T, s *store.Store, dir, part store.Key) {
			remove(t, s, dir.Join(dataset.SuccessName))
			remove(t, s, dir.Join(dataset.ManifestName))
		}, dataset.ErrIncomplete},
		{"Spark's job still running", func(t *testing.T, s *store.Store, dir, part store.Key) {
			remove(t, s, dir.Join(dataset.SuccessName))
			remove(t, s, dir.Join(dataset.ManifestName))
			put(t, s, dir.Join("_temporary/0/task/part-00000.parquet"), "")
		}, dataset.ErrIncomplete},
		{"a file too few", func(t *testing.T, s *store.Store, dir, part store.Key) {
			remove(t, s, part)
		}, store.ErrCorrupt},
		{"a file too many", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join("part-00001.parquet"), "PAR1")
		}, store.ErrCorrupt},
		{"a manifest that is not JSON", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join(dataset.ManifestName), "{")
		}, store.ErrCorrupt},
		{"a manifest of a newer format", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join(dataset.ManifestName), `{"version": 2}`)
		}, store.ErrUnsupported},
		{"a partition too many", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join("day=1/part-00000.parquet"), "PAR1")
		}, store.ErrCorrupt},
		{"a directory that is no partition", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join("more/part-00000.parquet"), "PAR1")
		}, store.ErrUnsupported},
		{"a Delta table", func(t *testing.T, s *store.Store, dir, part store.Key) {
			put(t, s, dir.Join("_delta_log/00000000000000000000.json"), "{}")
		}, store.ErrUnsupported},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			d := stage(t, s, spec())
			dir := d.Commit.Splits[dataset.Train].Dir
			test.spoil(t, s, dir, dir.Join(manifest(t, s, d, dataset.Train).Files[0].Name))
			if _, err := dataset.Open(t.Context(), s, dir); !errors.Is(err, test.want) {
				t.Errorf("Open = %v, want %v", err, test.want)
			}
		})
	}
}

func TestFileReplacedAfterOpen(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		d := stage(t, s, spec())
		dir := d.Commit.Splits[dataset.Train].Dir
		r, err := dataset.Open(t.Context(), s, dir)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, dir.Join(r.Files()[0].Name), strings.Repeat("x", int(r.Files()[0].Bytes)))
		if _, err := r.ReadTable(t.Context(), nil); !errors.Is(err, store.ErrConflict) {
			t.Errorf("ReadTable = %v, want that the file is not the one that was opened", err)
		}
	})
}

// TestForeignDirectory reads parts without a manifest, in order of name, beside
// what Spark passes over.
func TestForeignDirectory(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		d := stage(t, s, spec())
		copyPart := func(split dataset.Name, to store.Key) {
			body, err := s.Get(t.Context(), d.Commit.Splits[split].Dir.Join(manifest(t, s, d, split).Files[0].Name))
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, to, string(body))
		}
		copyPart(dataset.Train, "foreign/part-00000-x.snappy.parquet")
		copyPart(dataset.Val, "foreign/part-00001-x.snappy.parquet")
		for _, name := range []string{"_SUCCESS", "_metadata", "_common_metadata", "_started_1", ".part-00000-x.snappy.parquet.crc", "a.parquet._COPYING_", "_temporary/0/x.parquet"} {
			put(t, s, "foreign/"+store.Key(name), "")
		}
		read(t, s, "foreign", 0, 400)
		stage(t, s, dataset.Spec{Sources: []dataset.Source{{URI: "y", Version: "1"}}, Split: dataset.Split{Val: 0.1}})
		put(t, s, "foreign/part-00002-x.snappy.parquet", "no Parquet at all")
		if err := readAll(t, s, "foreign"); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("a file that is no Parquet: %v", err)
		}
	})
}

func put(t *testing.T, s *store.Store, key store.Key, body string) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, s *store.Store, key store.Key) {
	t.Helper()
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

func TestIsData(t *testing.T) {
	for name, want := range map[string]bool{
		"part-00000.parquet": true, "data": true, "_key=1": true, "day=2": true,
		"_SUCCESS": false, "_temporary": false, ".hidden": false, ".part.crc": false,
		"x._COPYING_": false, "_metadata": false, "_common_metadata": false, "_heirloom.json": false,
	} {
		if got := dataset.IsData(name); got != want {
			t.Errorf("IsData(%q) = %v", name, got)
		}
	}
}
