package storetest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

func readCases() []Case {
	return []Case{
		{"absence is an error of its kind", absence},
		{"what was put is read, of any size", sizes},
		{"stat, read and list tell the same of an object", sameObject},
		{"a range is read as asked", ranges},
		{"a read pinned to a version fails when that is gone", pinned},
		{"a reader yields all, however it is asked", pieces},
	}
}

func absence(t T, s *store.Store) {
	ctx := t.Context()
	wantAbsent(t, s, "no")
	wantAbsent(t, s, "no/such/object")
	_, err := s.Open(ctx, "no")
	wantKind(t, err, store.ErrNotExist, "open")
	_, err = s.OpenRange(ctx, "no", 0, 0, "")
	wantKind(t, err, store.ErrNotExist, "open an empty range")
	put(t, s, "dir/object", "x")
	wantAbsent(t, s, "dir")
	_, err = s.Get(ctx, "dir/object/below")
	wantKind(t, err, store.ErrNotExist, "get below an object")
}

func sizes(t T, s *store.Store) {
	for _, size := range []int{0, 1, 2, 511, 512, 513, 4096, 65537, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		key, body := store.Key(fmt.Sprintf("size/%d", size)), pattern(size)
		put(t, s, key, body)
		wantBody(t, s, key, body)
	}
}

// pattern is text of that many bytes in which a shift or a gap would show.
func pattern(size int) string {
	b := make([]byte, 0, size+32)
	for i := int64(0); len(b) < size; i++ {
		b = append(strconv.AppendInt(b, i, 36), 0, 0xff, '\n')
	}
	return string(b[:size])
}

func sameObject(t T, s *store.Store) {
	ctx := t.Context()
	put(t, s, "o", pattern(1000))
	stat, err := s.Stat(ctx, "o")
	must(t, err, "stat")
	if stat.Key != "o" || stat.Size != 1000 || stat.Modified.IsZero() || stat.Version == "" {
		t.Errorf("stat is %+v, want key o, 1,000 bytes, a time and a version", stat)
	}
	r, err := s.Open(ctx, "o")
	must(t, err, "open")
	defer r.Close()
	if o := r.Object(); o.Key != stat.Key || o.Size != stat.Size || o.Version != stat.Version {
		t.Errorf("a reader says %+v, stat %+v", o, stat)
	}
	for o, err := range s.List(ctx, "") {
		if err != nil || o.Key != stat.Key || o.Size != stat.Size || o.Version != stat.Version || o.Modified.IsZero() {
			t.Errorf("list says %+v, %v, stat %+v", o, err, stat)
		}
	}
	put(t, s, "o", pattern(1001))
	if after, err := s.Stat(ctx, "o"); err != nil || after.Version == stat.Version {
		t.Errorf("after another put the version is %q, %v, as before", after.Version, err)
	}
	if s.Capabilities().CoarseVersion {
		return
	}
	put(t, s, "o", strings.Repeat("x", 1001))
	again, err := s.Stat(ctx, "o")
	put(t, s, "o", strings.Repeat("y", 1001))
	if after, err2 := s.Stat(ctx, "o"); err != nil || err2 != nil || after.Version == again.Version {
		t.Errorf("after a put of other bytes of the same number the version is %q, %v, %v, as before", after.Version, err, err2)
	}
}

func ranges(t T, s *store.Store) {
	const size = 100_000
	body := pattern(size)
	put(t, s, "o", body)
	for _, r := range [][2]int64{
		{0, -1}, {0, 0}, {0, 1}, {0, size}, {0, size + 1}, {1, 3}, {1, -1}, {99_990, 10}, {99_990, 1000},
		{99_999, 1}, {99_999, -1}, {size, -1}, {size, 0}, {size, 5}, {50_000, 25_000},
	} {
		reader, err := s.OpenRange(t.Context(), "o", r[0], r[1], "")
		if err != nil {
			t.Errorf("open %d+%d: %v", r[0], r[1], err)
			continue
		}
		got, err := io.ReadAll(reader)
		reader.Close()
		end := int64(size)
		if r[1] >= 0 {
			end = min(end, r[0]+r[1])
		}
		if err != nil || string(got) != body[r[0]:end] {
			t.Errorf("read %d+%d: %d bytes, %v, want %d", r[0], r[1], len(got), err, end-r[0])
		}
		if reader.Object().Size != size {
			t.Errorf("open %d+%d: the object has %d bytes, want %d", r[0], r[1], reader.Object().Size, size)
		}
	}
	for _, offset := range []int64{-1, size + 1, 2 * size} {
		_, err := s.OpenRange(t.Context(), "o", offset, 1, "")
		wantKind(t, err, store.ErrInvalid, "open at %d", offset)
	}
	put(t, s, "empty", "")
	reader, err := s.OpenRange(t.Context(), "empty", 0, 10, "")
	must(t, err, "open a range of an empty object")
	defer reader.Close()
	if got, err := io.ReadAll(reader); err != nil || len(got) != 0 {
		t.Errorf("an empty object yields %q, %v", got, err)
	}
}

func pinned(t T, s *store.Store) {
	ctx := t.Context()
	put(t, s, "o", "first")
	old, err := s.Stat(ctx, "o")
	must(t, err, "stat")
	r, err := s.OpenRange(ctx, "o", 1, 3, old.Version)
	must(t, err, "open the present version")
	if got, err := io.ReadAll(r); err != nil || string(got) != "irs" {
		t.Errorf("the present version yields %q, %v", got, err)
	}
	r.Close()
	put(t, s, "o", "second one")
	for _, length := range []int64{-1, 0, 3} {
		_, err = s.OpenRange(ctx, "o", 1, length, old.Version)
		wantKind(t, err, store.ErrConflict, "open %d bytes of an old version", length)
	}
}

func pieces(t T, s *store.Store) {
	body := pattern(70_000)
	put(t, s, "o", body)
	r, err := s.Open(t.Context(), "o")
	must(t, err, "open")
	var got bytes.Buffer
	if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{r}, make([]byte, 7)); err != nil {
		t.Errorf("read: %v", err)
	}
	if got.String() != body {
		t.Errorf("7 bytes at a time yield %d bytes that differ, of %d", got.Len(), len(body))
	}
	for range 2 {
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("at the end a read yields %d, %v, want EOF", n, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}
