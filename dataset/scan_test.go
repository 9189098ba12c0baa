package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/heirloom-ml/heirloom/store"
)

// numberedReader stages rows 0..n-1 in column "n", and "even" and "word" that follow
// from it, in several row groups and files.
func numberedReader(t *testing.T, n int) *Reader {
	t.Helper()
	s := memoryStore(t)
	d, _, err := Stage(t.Context(), s, oneSource(), writeNumbered(n))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), s, d.Commit.Splits[Train].Dir)
	if err != nil {
		t.Fatal(err)
	}
	if n > 1000 && len(r.Files()) < 2 {
		t.Fatalf("%d files", len(r.Files()))
	}
	return r
}

func writeNumbered(n int) func(ctx context.Context, w *Writer) error {
	return func(ctx context.Context, w *Writer) error {
		w.limits.groupRows, w.limits.partBytes = 100, 900
		for from := 0; from < n; from += 90 {
			if err := w.WriteTable(ctx, Train, numberedRows(from, min(from+90, n))); err != nil {
				return err
			}
		}
		return nil
	}
}

func numberedRows(from, to int) Table {
	var n []int64
	var even []bool
	var word []string
	for i := from; i < to; i++ {
		n, even, word = append(n, int64(i)), append(even, i%2 == 0), append(word, fmt.Sprintf("w%d", i%10))
	}
	return Table{{Name: "n", Values: n}, {Name: "even", Values: even}, {Name: "word", Values: word}}
}

// readNumbers reads column "n", up to most rows if that is not 0, and where to go on.
func readNumbers(t *testing.T, r *Reader, opts ReadOptions, most int) (list []int64, next Cursor) {
	t.Helper()
	opts.Columns = []string{"n"}
	for batch, err := range r.Batches(t.Context(), &opts) {
		if err != nil {
			t.Fatal(err)
		}
		if batch.NumRows() == 0 {
			t.Error("an empty batch")
		}
		list = append(list, batch.Column(0).(*array.Int64).Int64Values()...)
		next = batch.Next
		if most > 0 && len(list) >= most {
			break
		}
	}
	return list, next
}

func sequence(from, to int64) []int64 {
	var list []int64
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

func TestShardsCoverEachRowOnce(t *testing.T) {
	r := numberedReader(t, 1003)
	for _, shuffle := range []*Shuffle{nil, {Seed: 7, Epoch: 3, Window: 130}} {
		for _, of := range []int{1, 2, 7, 100} {
			var all []int64
			for i := range of {
				part, _ := readNumbers(t, r, ReadOptions{Shard: Shard{Index: i, Of: of}, Shuffle: shuffle}, 0)
				if n := len(part); n < 1003/of || n > 1003/of+1 {
					t.Errorf("shard %d of %d has %d rows", i, of, n)
				}
				if shuffle == nil && !slices.IsSorted(part) {
					t.Errorf("shard %d of %d is out of order", i, of)
				}
				all = append(all, part...)
			}
			slices.Sort(all)
			if !slices.Equal(all, sequence(0, 1003)) {
				t.Errorf("%d shards (shuffle %v) hold %d rows, not each once", of, shuffle, len(all))
			}
		}
	}
}

func TestShuffleIsDrawnFromSeedAndEpoch(t *testing.T) {
	r := numberedReader(t, 1003)
	first, _ := readNumbers(t, r, ReadOptions{Shuffle: &Shuffle{Seed: 1}}, 0)
	again, _ := readNumbers(t, r, ReadOptions{Shuffle: &Shuffle{Seed: 1}, BatchRows: 7}, 0)
	if !slices.Equal(first, again) {
		t.Error("the same seed and epoch give another order")
	}
	for _, other := range []Shuffle{{Seed: 2}, {Seed: 1, Epoch: 1}} {
		if list, _ := readNumbers(t, r, ReadOptions{Shuffle: &other}, 0); slices.Equal(list, first) {
			t.Errorf("%v gives the order of seed 1", other)
		}
	}
	moved := 0
	for i, n := range first {
		if n != int64(i) {
			moved++
		}
	}
	if moved < 950 {
		t.Errorf("%d of 1003 rows moved", moved)
	}
}

// TestResume breaks off after every number of rows and goes on from the cursor,
// by way of its text.
func TestResume(t *testing.T) {
	r := numberedReader(t, 503)
	where, err := ParsePredicate("n < 100 or word in ('w1', 'w5') and not even = true or n > 450")
	if err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string]ReadOptions{
		"in order": {}, "filtered": {Where: where}, "shard": {Shard: Shard{Index: 1, Of: 3}},
		"shuffled":          {Shuffle: &Shuffle{Seed: 5, Window: 64}},
		"shuffled filtered": {Shuffle: &Shuffle{Seed: 5, Window: 64}, Where: where, Shard: Shard{Index: 0, Of: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			opts.BatchRows = 13
			whole, end := readNumbers(t, r, opts, 0)
			for most := 1; most < len(whole); most += 29 {
				head, next := readNumbers(t, r, opts, most)
				rest := opts
				rest.From = roundTrip(t, next)
				tail, last := readNumbers(t, r, rest, 0)
				if !slices.Equal(append(head, tail...), whole) {
					t.Fatalf("broken off after %d rows: %v then %v, want %v", most, head, tail, whole)
				}
				if len(tail) > 0 && last != end {
					t.Errorf("ended at %v, want %v", last, end)
				}
			}
			rest := opts
			rest.From = end
			if list, _ := readNumbers(t, r, rest, 0); len(list) > 0 {
				t.Errorf("after the end come %v", list)
			}
		})
	}
}

func roundTrip(t *testing.T, c Cursor) (back Cursor) {
	t.Helper()
	body, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(body, &back)
	}
	if err != nil || back != c {
		t.Fatalf("%s became %v: %v", body, back, err)
	}
	return back
}

func TestCursorOfAnotherReading(t *testing.T) {
	r := numberedReader(t, 300)
	_, next := readNumbers(t, r, ReadOptions{BatchRows: 10}, 50)
	for _, err := range r.Batches(t.Context(), &ReadOptions{Shard: Shard{Index: 1, Of: 2}, From: next}) {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a cursor of all rows for a shard: %v", err)
		}
	}
	for _, err := range r.Batches(t.Context(), &ReadOptions{Shard: Shard{Index: 2, Of: 2}}) {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("shard 2 of 2: %v", err)
		}
	}
	var c Cursor
	for _, text := range []string{"x", "1.2.3", "1.z.0.0", "1.1.-1.0", "2.1.1.1"} {
		if err := c.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a cursor", text)
		}
	}
}

// TestWhere compares each condition with a function over all rows.
func TestWhere(t *testing.T) {
	r := numberedReader(t, 1003)
	tests := map[string]func(n int64) bool{
		"n = 500":                            func(n int64) bool { return n == 500 },
		"n >= 990":                           func(n int64) bool { return n >= 990 },
		"n < 0":                              func(n int64) bool { return false },
		"n != 3 and n<5":                     func(n int64) bool { return n != 3 && n < 5 },
		"n <> 3 AND n <= 4.5":                func(n int64) bool { return n != 3 && n <= 4 },
		"n > 4.5 and n < 7.5":                func(n int64) bool { return n > 4 && n <= 7 },
		"n = 4.5":                            func(n int64) bool { return false },
		"even = true and word = 'w4'":        func(n int64) bool { return n%10 == 4 },
		"not (n < 1000 or even = true)":      func(n int64) bool { return n >= 1000 && n%2 == 1 },
		"word in ('w1', 'w2') and n < 20":    func(n int64) bool { return (n%10 == 1 || n%10 == 2) && n < 20 },
		"word not in ('w1') and n < 3":       func(n int64) bool { return n != 1 && n < 3 },
		"word > 'w8'":                        func(n int64) bool { return n%10 == 9 },
		"word is null or n == 7":             func(n int64) bool { return n == 7 },
		`"n" is not null and n > 1001`:       func(n int64) bool { return n > 1001 },
		"n > 2000 or n < 1 or n = 5 and n=6": func(n int64) bool { return n < 1 },
	}
	for text, want := range tests {
		where, err := ParsePredicate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, _ := readNumbers(t, r, ReadOptions{Where: where}, 0)
		expect := slices.DeleteFunc(sequence(0, 1003), func(n int64) bool { return !want(n) })
		if !slices.Equal(got, expect) {
			t.Errorf("%s: %v, want %v", text, got, expect)
		}
	}
}

func TestBadPredicates(t *testing.T) {
	for _, text := range []string{"", "n", "n >", "n > >", "(n = 1", "n = 1)", "n = 'x", "= 1", "n = 1 and", "n is 3", "n in ()", "n in (1", "not", "n = null", "1 = n",
		strings.Repeat("(", 1000) + "n = 1"} {
		if _, err := ParsePredicate(text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	r := numberedReader(t, 300)
	for text, want := range map[string]error{"m = 1": store.ErrNotExist, "n = 'x'": store.ErrInvalid, "word = 1": store.ErrInvalid, "even = 1": store.ErrInvalid} {
		where, err := ParsePredicate(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Batches(t.Context(), &ReadOptions{Where: where}) {
			if !errors.Is(err, want) {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// TestPruning counts the row groups that are decoded.
func TestPruning(t *testing.T) {
	r := numberedReader(t, 1003)
	for text, want := range map[string]int{"n >= 0": 12, "n = 1002": 1, "n < 95": 2, "n > 5000": 0, "even = true": 12, "word = 'x'": 0, "word is null": 0} {
		where, err := ParsePredicate(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.newScan(t.Context(), &ReadOptions{Where: where})
		if err != nil {
			t.Fatal(err)
		}
		p := s.start(t.Context(), 0, r.Rows())
		decoded, groups := 0, 0
		for piece := range p.pieces {
			groups++
			if piece.reader != nil {
				decoded++
			}
			piece.close()
		}
		p.stop()
		if decoded != want || groups != 12 {
			t.Errorf("%s: %d of %d row groups were decoded, want %d of 12", text, decoded, groups, want)
		}
	}
}

func memoryStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
