package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// FuzzCSVFields compares with encoding/csv on what both take, and where blocks are
// cut with where rows end.
func FuzzCSVFields(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"x\"\"y\",\r\n,\"\n\"\n", "a\n\n\"", "a\rb", "\"a\"b", "a\"", ",,\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, ends, err := allFields(data)
		if err != nil {
			return
		}
		if cut := cutRows(data); cut > 0 && !slices.Contains(ends, cut) {
			t.Fatalf("%q is cut at %d, its rows end at %v", data, cut, ends)
		}
		if bytes.Contains(data, []byte("\r\n")) { // theirs makes LF of it within quotes
			return
		}
		r := csv.NewReader(bytes.NewReader(data))
		r.FieldsPerRecord = -1
		theirs, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%q: encoding/csv refuses it: %v", data, err)
		}
		ours = slices.DeleteFunc(ours, func(row []string) bool { return len(row) == 1 && row[0] == "" })
		theirs = slices.DeleteFunc(theirs, func(row []string) bool { return len(row) == 1 && row[0] == "" })
		if !slices.EqualFunc(ours, theirs, slices.Equal) {
			t.Fatalf("%q: %q, encoding/csv: %q", data, ours, theirs)
		}
	})
}

func allFields(data []byte) (rows [][]string, ends []int, err error) {
	r := newCSVRows(data, ',')
	for r.more() {
		var row []string
		for {
			field, err := r.next()
			if err != nil {
				return nil, nil, err
			}
			row = append(row, string(field.text))
			if field.last {
				break
			}
		}
		rows, ends = append(rows, row), append(ends, r.pos)
	}
	return rows, ends, nil
}

// FuzzMoment compares with what package time makes of the same text.
func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"2026-11-21T10:00:00.5+02:00", "2024-02-29 23:59", "0001-01-01T00:00:00Z", "2026-11-21T10:00:00.123456789-0130", "2026-02-30T00:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := parseMoment([]byte(text))
		if !ok {
			return
		}
		plain := strings.Replace(text, " ", "T", 1)
		for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
			for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
				if want, err := time.Parse(layout+zone, plain); err == nil {
					if m.seconds != want.Unix() || m.nanos != int64(want.Nanosecond()) || m.zone != (zone != "") {
						t.Fatalf("%q: %+v, want %v", text, m, want)
					}
					return
				}
			}
		}
		t.Fatalf("%q is taken, package time refuses it", text)
	})
}

// FuzzReal takes no number that is written otherwise than in decimal.
func FuzzReal(f *testing.F) {
	for _, seed := range []string{"1e9", "-.5", "0x1p3", "1_0", "NaN", "-Infinity", "1e400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var x float64
		ok := reals(64, func(v float64) { x = v })([]byte(text))
		if ok && math.IsInf(x, 0) && !strings.ContainsAny(text, "iI") {
			t.Fatalf("%q becomes %v", text, x)
		}
		if ok && strings.Trim(text, "+-.0123456789eEiInNfFaAtTyY") != "" {
			t.Fatalf("%q becomes %v", text, x)
		}
	})
}

// fuzzInput reads data in a format to its end, and reports the rows, or an error,
// which must be classified.
func fuzzInput(t *testing.T, format string, data []byte) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "x", data); err != nil {
		t.Fatal(err)
	}
	in, err := OpenInputs(t.Context(), []Input{{Store: s, Key: "x"}}, &InputOptions{Format: format})
	if err != nil {
		t.Fatal(err)
	}
	r := &reading{options: in.options, emit: func(context.Context, arrow.Record) error { return nil }}
	err = r.file(t.Context(), in.files[0])
	var classified *store.Error
	if err != nil && !errors.As(err, &classified) {
		t.Fatalf("unclassified: %v", err)
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("no kind: %v", err)
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n3,\n", "a\n2026-11-21\n", "\ufeffa\ntrue\n", "a,a\n", "a\n\"", "\x1f\x8b\b", "\x28\xb5\x2f\xfd"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzInput(t, "csv", data) })
}

func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"c":null}]}`, "{\"a\":1}\n{\"a\":2.5,\"b\":\"x\"}\n", `{"a":{}}`, `{"a":1,"a":2}`, `[`, `{"a":1}{"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzInput(t, "jsonl", data) })
}
