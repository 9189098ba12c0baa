package dataset_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// produceAnd calls f in the midst of producing.
func produceAnd(f func()) dataset.Produce {
	return func(ctx context.Context, w *dataset.Writer) error {
		f()
		return produce(ctx, w)
	}
}

// foreign stores Parquet that heirloom did not stage.
func foreign(t *testing.T, s *store.Store, names ...string) {
	t.Helper()
	from := openStore(t, "mem://", nil)
	d := stage(t, from, spec())
	body, err := from.Get(t.Context(), d.Commit.Splits[dataset.Train].Dir.Join(manifest(t, from, d, dataset.Train).Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		put(t, s, store.Key(name), string(body))
	}
}

func adopt(t *testing.T, s, lake *store.Store, dir store.Key) (*dataset.Dataset, bool, error) {
	return dataset.Adopt(t.Context(), s, map[dataset.Name]dataset.Place{dataset.Train: {Store: lake, Dir: dir}}, nil)
}

func TestAdopt(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		lake := openStore(t, "mem://", nil)
		foreign(t, lake, "a/day=1/x.parquet", "a/day=2/y.parquet")
		d, hit, err := adopt(t, s, lake, "a")
		if err != nil || hit {
			t.Fatalf("hit %v, %v", hit, err)
		}
		split := d.Commit.Splits[dataset.Train]
		m := manifest(t, s, d, dataset.Train)
		if split.Rows != 600 || split.Files != 2 || split.Location(s) != lake.KeyURL("a") || m.Files[1].Name != "day=2/y.parquet" {
			t.Errorf("adopted %+v of %+v", split, m.Files)
		}
		again, hit, err := adopt(t, s, lake, "a")
		if err != nil || !hit || mustJSON(t, again) != mustJSON(t, d) {
			t.Errorf("adopted again: hit %v, %v", hit, err)
		}
		foreign(t, lake, "a/day=2/z.parquet")
		other, hit, err := adopt(t, s, lake, "a")
		if err != nil || hit || other.Commit.Fingerprint == d.Commit.Fingerprint {
			t.Errorf("adopted with a file more: hit %v, %v", hit, err)
		}
	})
}

// TestAdoptWhileSomebodyWrites adds a file between the first look at a directory
// and the last.
func TestAdoptWhileSomebodyWrites(t *testing.T) {
	s := openStore(t, "mem://", nil)
	var lists atomic.Int64
	var lake *store.Store
	lake = openStore(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if r.Op == "list" && strings.HasPrefix(r.Key, "a") && lists.Add(1) == 3 {
			foreign(t, lake, "a/y.parquet")
		}
		return do()
	}})
	foreign(t, lake, "a/x.parquet")
	if _, _, err := adopt(t, s, lake, "a"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Adopt = %v, want a conflict", err)
	}
	if list := keys(t, s, ""); len(list) > 0 {
		t.Errorf("recorded: %v", list)
	}
}

// TestAdoptSplits adopts a directory for each split: which is which counts.
func TestAdoptSplits(t *testing.T) {
	s, lake := openStore(t, "mem://", nil), openStore(t, "mem://", nil)
	foreign(t, lake, "a/x.parquet", "b/x.parquet", "b/y.parquet", "c/x.parquet")
	put(t, lake, "empty/_SUCCESS", "")
	at := func(dirs ...store.Key) map[dataset.Name]dataset.Place {
		splits := make(map[dataset.Name]dataset.Place)
		for i, name := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test}[:len(dirs)] {
			splits[name] = dataset.Place{Store: lake, Dir: dirs[i]}
		}
		return splits
	}
	seen := make(map[store.Digest]bool)
	for _, dirs := range [][]store.Key{{"b", "a", "c"}, {"b", "c", "a"}, {"b", "a"}, {"b"}} {
		for _, wantHit := range []bool{false, true} {
			d, hit, err := dataset.Adopt(t.Context(), s, at(dirs...), nil)
			if err != nil || hit != wantHit {
				t.Fatalf("%v: hit %v, %v", dirs, hit, err)
			}
			if seen[d.Commit.Fingerprint] != wantHit {
				t.Errorf("%v is the same dataset as another", dirs)
			}
			seen[d.Commit.Fingerprint] = true
			if len(d.Commit.Splits) != len(dirs) || d.Commit.Splits[dataset.Train].Rows != 600 {
				t.Errorf("%v: %+v", dirs, d.Commit.Splits)
			}
			for name, place := range at(dirs...) {
				m := manifest(t, s, d, name)
				if m.Split != name || d.Commit.Splits[name].Location(s) != lake.KeyURL(place.Dir) || m.Rows != d.Commit.Splits[name].Rows {
					t.Errorf("%v: split %s: %+v", dirs, name, m)
				}
			}
		}
	}
	for _, test := range []struct {
		name   string
		splits map[dataset.Name]dataset.Place
		want   error
		text   string
	}{
		{"one directory twice", at("a", "a"), store.ErrInvalid, "overlap"},
		{"a partition of another", at("b", "b/day=1"), store.ErrInvalid, "overlap"},
		{"no train", map[dataset.Name]dataset.Place{dataset.Val: {Store: lake, Dir: "a"}}, store.ErrInvalid, "train"},
		{"an unknown split", map[dataset.Name]dataset.Place{dataset.Train: {Store: lake, Dir: "a"}, "dev": {Store: lake, Dir: "b"}}, store.ErrInvalid, "train val test"},
		{"an empty split", at("a", "empty"), store.ErrNotExist, "empty"},
		{"what is not there", at("a", "b", "nowhere"), store.ErrNotExist, "nowhere"},
	} {
		if _, _, err := dataset.Adopt(t.Context(), s, test.splits, nil); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestAdoptByContent changes a byte of a file that was adopted with its checksum, and of one that was not, and
// writes each again as it was.
func TestAdoptByContent(t *testing.T) {
	for _, readData := range []bool{false, true} {
		s, lake := openStore(t, "mem://", nil), openStore(t, "mem://", nil)
		foreign(t, lake, "a/day=1/x.parquet")
		body, err := lake.Get(t.Context(), "a/day=1/x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		splits := map[dataset.Name]dataset.Place{dataset.Train: {Store: lake, Dir: "a"}}
		opts := &dataset.AdoptOptions{ReadData: readData}
		d, _, err := dataset.Adopt(t.Context(), s, splits, opts)
		if err != nil {
			t.Fatal(err)
		}
		m := manifest(t, s, d, dataset.Train)
		rules := func() (list []dataset.CheckRule) {
			t.Helper()
			report, err := dataset.Check(t.Context(), lake, "a", &dataset.CheckOptions{Adopted: m, ReadData: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, finding := range report.Findings {
				list = append(list, finding.Rule)
			}
			return list
		}
		if got := rules(); len(got) > 0 {
			t.Errorf("checksums %v: untouched: %v", readData, got)
		}
		put(t, lake, "a/day=1/x.parquet", string(body))
		_, hit, err := dataset.Adopt(t.Context(), s, splits, opts)
		if got := rules(); err != nil || hit != readData || (len(got) == 0) != readData {
			t.Errorf("checksums %v: written again as it was: hit %v, %v, %v", readData, hit, got, err)
		}
		spoilt := []byte(strings.Replace(string(body), "parquet", "Parquet", 1)) // of the name of who wrote it, which nothing but a checksum can tell
		if string(spoilt) == string(body) {
			t.Fatal("the file names no writer")
		}
		put(t, lake, "a/day=1/x.parquet", string(spoilt))
		want := dataset.RuleChanged
		if readData {
			want = dataset.RuleChecksum
		}
		if got := rules(); !slices.Contains(got, want) {
			t.Errorf("checksums %v: a byte changed: %v, want %s", readData, got, want)
		}
		foreign(t, lake, "a/day=2/y.parquet")
		remove(t, lake, "a/day=1/x.parquet")
		if got := rules(); !slices.Equal(got, []dataset.CheckRule{dataset.RuleMissing, dataset.RuleUnlisted}) {
			t.Errorf("checksums %v: a file in place of another: %v", readData, got)
		}
	}
}

// BenchmarkHit is what it takes to be given a dataset that is there.
func BenchmarkHit(b *testing.B) {
	s, err := store.Open(b.Context(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, _, err := dataset.Stage(b.Context(), s, spec(), produce); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, hit, err := dataset.Stage(b.Context(), s, spec(), never); err != nil || !hit {
			b.Fatal(hit, err)
		}
	}
}
