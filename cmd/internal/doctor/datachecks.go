package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

const maxSkew = 3 * time.Minute

// clock compares this machine's clock with the time that the far side gave to what was just written.
func (e *examination) clock(ctx context.Context) Finding {
	s := e.scratch.Sub("")
	before := e.Now()
	if err := s.Put(ctx, "clock", nil); err != nil {
		return explain("write", err)
	}
	after := e.Now()
	o, err := s.Stat(ctx, "clock")
	if err != nil {
		return explain("read", err)
	}
	const grain = time.Second // of what a server tells
	var skew time.Duration
	switch {
	case o.Modified.Before(before.Add(-grain)):
		skew = before.Sub(o.Modified)
	case o.Modified.After(after.Add(grain)):
		skew = after.Sub(o.Modified)
	}
	skew = skew.Round(time.Second)
	word := "behind"
	if skew > 0 {
		word = "ahead of"
	}
	switch {
	case skew.Abs() > maxSkew:
		return failed(errWrong, fmt.Sprintf("the clock of this machine is %v %s the store's", skew.Abs(), word),
			"set the clock and keep it right with NTP: runs would seem lost, and requests may be refused")
	case skew.Abs() > 5*time.Second:
		return warning(fmt.Sprintf("the clock of this machine is %v %s the store's", skew.Abs(), word), "keep the clock right with NTP")
	}
	return ok("the clocks agree")
}

// pattern is size bytes that nobody has seen before.
func pattern(size int) []byte {
	b := make([]byte, size)
	rand.Read(b) // never fails
	return b
}

const notKept = "use another store: this one does not give back what it got"

// sameBytes writes objects of several sizes, the last of them in parts, and compares what comes back, whole and in
// ranges.
func (e *examination) sameBytes(ctx context.Context) Finding {
	s := e.scratch.Sub("bytes")
	for _, size := range []int{0, 1, 65_537, 1<<20 + 1, 9 << 20} {
		key, body := store.Key(fmt.Sprint(size)), pattern(size)
		if _, err := s.PutFrom(ctx, key, bytes.NewReader(body), int64(size)); err != nil {
			return explain(fmt.Sprintf("write %d bytes", size), err)
		}
		got, err := readRange(ctx, s, key, 0, -1)
		if f := compare(body, got, err); f.Status != OK {
			return f
		}
		offset, length := size/3, size/2
		got, err = readRange(ctx, s, key, int64(offset), int64(length))
		if f := compare(body[offset:offset+length], got, err); f.Status != OK {
			f.Message = "in a range, " + f.Message
			return f
		}
	}
	return ok("what is written comes back byte for byte, up to 9 MiB")
}

func readRange(ctx context.Context, s *store.Store, key store.Key, offset, length int64) ([]byte, error) {
	r, err := s.OpenRange(ctx, key, offset, length, "")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// compare says how what came back differs from what was written.
func compare(want, got []byte, err error) Finding {
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return failed(store.ErrCorrupt, "a read is cut or spoilt: "+cause(err), notKept)
	case err != nil:
		return explain("read", err)
	case len(got) != len(want):
		return failed(store.ErrCorrupt, fmt.Sprintf("%d of %d bytes came back", len(got), len(want)), notKept)
	}
	for i := range want {
		if got[i] != want[i] {
			return failed(store.ErrCorrupt, fmt.Sprintf("byte %d of %d came back changed", i, len(want)), notKept)
		}
	}
	return ok("")
}

// listsAll looks whether a listing right after a write, and after a delete, is complete and in order.
func (e *examination) listsAll(ctx context.Context) Finding {
	s := e.scratch.Sub("listing")
	var want []store.Key
	for i := range 24 {
		key := store.Key(fmt.Sprintf("%02d/object", i))
		if err := s.Put(ctx, key, []byte(key)); err != nil {
			return explain("write", err)
		}
		want = append(want, key)
	}
	f := listed(ctx, s, want, "written")
	for _, key := range want[:4] {
		if f.Status != OK || e.broken["delete"] {
			break
		}
		if err := s.Delete(ctx, key); errors.Is(err, store.ErrPermission) {
			return f // told by another check
		} else if err != nil {
			return explain("delete", err)
		}
	}
	if f.Status == OK {
		return listed(ctx, s, want[4:], "deleted")
	}
	return f
}

func listed(ctx context.Context, s *store.Store, want []store.Key, after string) Finding {
	const advice = "use another store: runs and their records would go missing"
	var got []store.Key
	var odd store.Object // one of a wrong size
	for o, err := range s.List(ctx, "") {
		if errors.Is(err, store.ErrCorrupt) {
			return failed(store.ErrCorrupt, "a listing is not in order: "+cause(err), advice)
		}
		if err != nil {
			return explain("list", err)
		}
		got = append(got, o.Key)
		if o.Size != int64(len(o.Key)) {
			odd = o
		}
	}
	missing := slices.DeleteFunc(slices.Clone(want), func(k store.Key) bool { return slices.Contains(got, k) })
	switch {
	case len(missing) > 0:
		return failed(store.ErrCorrupt, fmt.Sprintf("a listing lacks %d of %d objects right after they were %s", len(missing), len(want), after), advice)
	case len(got) > len(want):
		return failed(store.ErrCorrupt, fmt.Sprintf("a listing still shows %d objects that are gone", len(got)-len(want)), advice)
	case odd.Key != "":
		return failed(store.ErrCorrupt, fmt.Sprintf("a listing says %d bytes of an object that has %d", odd.Size, len(odd.Key)), advice)
	}
	return ok("a listing shows at once what was written, and not what was deleted")
}
