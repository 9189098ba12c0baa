package dataset

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// seeds are files of ours, of other limits.
func fuzzSeeds(f *testing.F) {
	for _, rows := range []int{1, 300} {
		s, err := store.Open(f.Context(), "mem://", nil)
		if err != nil {
			f.Fatal(err)
		}
		d, _, err := Stage(f.Context(), s, oneSource(), writeNumbered(rows))
		if err != nil {
			f.Fatal(err)
		}
		body, err := s.Get(f.Context(), d.Commit.Splits[Train].Dir.Join(manifestOf(f, s, d).Files[0].Name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
}

func manifestOf(t testing.TB, s *store.Store, d *Dataset) *Manifest {
	t.Helper()
	m, err := d.Manifest(t.Context(), s, Train)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// FuzzFile reads whatever bytes as a file without a manifest.
func FuzzFile(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, body []byte) { readBytes(t, body) })
}

// FuzzFooter puts a footer behind a body of pages that never changes.
func FuzzFooter(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, footer []byte) {
		body := append([]byte("PAR1"), footer...)
		readBytes(t, append(binary.LittleEndian.AppendUint32(body, uint32(len(footer))), "PAR1"...))
	})
}

// readBytes wants an error of a known kind, or rows.
func readBytes(t *testing.T, body []byte) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "f/x.parquet", body); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), s, "f")
	if err == nil {
		for _, err = range r.Batches(t.Context(), nil) {
			if err != nil {
				break
			}
		}
		if _, err := r.Statistics(t.Context()); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("statistics: %v", err)
		}
	}
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// FuzzPages decodes one page in each encoding.
func FuzzPages(f *testing.F) {
	for encoding := range byte(10) {
		f.Add(encoding, byte(0), []byte{8, 0, 0, 0, 2, 1, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10})
		f.Add(encoding, byte(8), []byte{128, 1, 4, 4, 2, 0, 0, 0, 0, 1, 2, 3})
	}
	f.Fuzz(func(_ *testing.T, encoding, width byte, data []byte) {
		l := &leaf{width: int(width % 17), boolean: width == 1, fixedBytes: width > 12, dictionary: &dense{n: 1, fixed: make([]byte, 16), offsets: []int32{0, 3}, data: []byte("abc")}}
		d, err := l.newDecoder(int32(encoding%10), data, 1000)
		var values dense
		for i := 0; err == nil && i < 4; i++ {
			err = d.read(&values, 1+i*5)
		}
		if len(values.data) > 64<<20 || len(values.fixed) > 64<<20 {
			panic("values take more room than they should")
		}
	})
}
