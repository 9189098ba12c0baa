package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// partedBackend is what the engine asks of a backend.
type partedBackend interface {
	backend
	parted
	summed
}

// onServers runs a test on S3 and GCS with an empty store each.
func onServers(t *testing.T, test func(t *testing.T, s *Store, b partedBackend)) {
	t.Helper()
	for name, start := range map[string]func(t *testing.T) string{
		"minio":     func(t *testing.T) string { return servers.MinIO(t).URL("") },
		"versitygw": func(t *testing.T) string { return servers.VersityGW(t).URL("") },
		"fakegcs":   func(t *testing.T) string { return servers.FakeGCS(t).URL("") },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), start(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s, s.back.(partedBackend))
		})
	}
}

// cutParts fills n parts, the last one short; S3 takes none below 5 MiB before it.
func cutParts(n int) (bodies [][]byte, whole []byte) {
	for i := range n {
		size := 5 << 20
		if i == n-1 {
			size = 1000
		}
		bodies = append(bodies, bytes.Repeat([]byte{byte('a' + i)}, size))
	}
	return bodies, bytes.Join(bodies, nil)
}

// writeID marks the uploads of these tests.
const writeID = "0123456789abcdef0123456789abcdef"

// sendParts begins an upload and sends its parts, the last one first.
func sendParts(t *testing.T, b parted, key string, bodies [][]byte) (token string, parts []part) {
	t.Helper()
	token, err := b.begin(t.Context(), key, writeID)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	parts = make([]part, len(bodies))
	for i := len(bodies) - 1; i >= 0; i-- {
		tag, err := sendPart(t.Context(), b, key, token, i, bodies[i], crc32c(bodies[i]))
		if err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
		parts[i] = part{int64(len(bodies[i])), crc32c(bodies[i]), tag}
	}
	return token, parts
}

func sendPart(ctx context.Context, b parted, key, token string, n int, body []byte, crc uint32) (string, error) {
	return b.part(ctx, key, token, n, io.NewSectionReader(bytes.NewReader(body), 0, int64(len(body))), crc)
}

// open tokens below prefix, as "key".
func wantUnfinished(t *testing.T, b parted, prefix string, want ...string) {
	t.Helper()
	var got []string
	for u, err := range b.unfinished(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("unfinished: %v", err)
		}
		got = append(got, u.key)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("unfinished below %q are %q, want %q", prefix, got, want)
	}
}

func wantKindOf(t *testing.T, what string, err, want error) {
	t.Helper()
	if kindOf(err) != want {
		t.Errorf("%s: error is %v of kind %v, want %v", what, err, kindOf(err), want)
	}
}

func TestPartsMakeOneObject(t *testing.T) {
	const key = "dir/ü +%&=?#/b c"
	onServers(t, func(t *testing.T, s *Store, b partedBackend) {
		bodies, whole := cutParts(3)
		token, parts := sendParts(t, b, key, bodies)
		for o, err := range s.List(t.Context(), "") {
			t.Errorf("an object that is not complete is listed: %q, %v", o.Key, err)
		}
		for e, err := range s.ListDir(t.Context(), "") {
			t.Errorf("an object that is not complete is listed: %q, %v", e.Key, err)
		}
		if _, err := s.Stat(t.Context(), key); !isNotExist(err) {
			t.Errorf("an object that is not complete: %v", err)
		}
		wantUnfinished(t, b, "dir/", key)
		wantUnfinished(t, b, "else/")
		obj, err := b.complete(t.Context(), key, token, parts, condition{absent: true, id: writeID})
		if err != nil || obj.Size != int64(len(whole)) {
			t.Fatalf("complete: %+v, %v", obj, err)
		}
		if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("get: %d bytes, %v", len(got), err)
		}
		if crc, known, err := b.checksum(t.Context(), key, obj.Version); crc != crc32c(whole) || !known || err != nil {
			t.Errorf("checksum: %x, %v, %v, want %x", crc, known, err, crc32c(whole))
		}
		_, _, err = b.checksum(t.Context(), key, "1234")
		wantKindOf(t, "the checksum of another version", err, ErrConflict)
		again, err := b.complete(t.Context(), key, token, parts, condition{absent: true, id: writeID})
		if err != nil || again.Version != obj.Version {
			t.Errorf("complete again, as after a lost answer: %+v, %v", again, err)
		}
		wantUnfinished(t, b, "")
	})
}

func TestPartsUnderConditions(t *testing.T) {
	const key = "o"
	onServers(t, func(t *testing.T, s *Store, b partedBackend) {
		bodies, _ := cutParts(1)
		token, parts := sendParts(t, b, key, bodies)
		_, err := b.complete(t.Context(), key, token, parts, condition{version: "1234"})
		wantKindOf(t, "replace what is not there", err, ErrConflict)
		old, err := b.write(t.Context(), key, []byte("old"), condition{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.complete(t.Context(), key, token, parts, condition{absent: true, id: writeID})
		wantKindOf(t, "create what exists", err, ErrExist)
		_, err = b.complete(t.Context(), key, token, parts, condition{version: "1234"})
		wantKindOf(t, "replace another version", err, ErrConflict)
		if got, err := s.Get(t.Context(), key); err != nil || string(got) != "old" {
			t.Errorf("after refusals: %q, %v", got, err)
		}
		_, err = b.complete(t.Context(), key, token, parts, condition{version: old.Version})
		wantKindOf(t, "replace", err, nil)
		wantUnfinished(t, b, "")
	})
}

func TestPartsAborted(t *testing.T) {
	const key = "dir/o"
	onServers(t, func(t *testing.T, _ *Store, b partedBackend) {
		bodies, _ := cutParts(2)
		token, parts := sendParts(t, b, key, bodies)
		_, err := sendPart(t.Context(), b, key, token, 1, bodies[1], 77)
		wantKindOf(t, "a part with another checksum", err, ErrCorrupt)
		for range 2 {
			if err := b.abort(t.Context(), key, token); err != nil {
				t.Errorf("abort: %v", err)
			}
		}
		wantUnfinished(t, b, "")
		_, err = b.complete(t.Context(), key, token, parts, condition{id: writeID})
		if !errors.Is(err, errUploadGone) {
			t.Errorf("complete what was aborted: %v, want %v", err, errUploadGone)
		}
		_, err = b.complete(t.Context(), key, "../odd", parts, condition{id: writeID})
		if !errors.Is(wrap("put", key, err), ErrInvalid) {
			t.Errorf("an odd token: %v, want ErrInvalid", err)
		}
	})
}

// TestManyParts goes beyond what GCS puts together in one request.
func TestManyParts(t *testing.T) {
	s, err := Open(t.Context(), servers.FakeGCS(t).URL(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := s.back.(partedBackend)
	for _, n := range []int{composeMost, composeMost + 1, 2*composeMost + 5} {
		var bodies [][]byte
		for i := range n {
			bodies = append(bodies, fmt.Appendf(nil, "part %d,", i))
		}
		token, parts := sendParts(t, b, "o", bodies)
		if _, err := b.complete(t.Context(), "o", token, parts, condition{id: writeID}); err != nil {
			t.Fatalf("%d parts: %v", n, err)
		}
		if got, err := s.Get(t.Context(), "o"); err != nil || !bytes.Equal(got, bytes.Join(bodies, nil)) {
			t.Errorf("%d parts: %d bytes, %v", n, len(got), err)
		}
		wantUnfinished(t, b, "")
	}
}

func TestPartSizes(t *testing.T) {
	const mib = 1 << 20
	var s3 s3Backend
	var gcs gcsBackend
	for _, c := range []struct {
		size, want, s3, gcs int64
	}{
		{-1, 0, 6 * mib, 6 * mib},
		{0, 0, 8 * mib, 8 * mib},
		{1 << 30, 0, 16 * mib, 32 * mib},
		{1<<30 + 64*mib, 0, 17 * mib, 34 * mib},
		{100 << 30, 0, 64 * mib, 101 * mib},
		{5 << 40, 0, 583 * mib, 5<<30 + mib},
		{1 << 30, 1, 5 * mib, 2 * mib},
		{1 << 30, 7*mib + 1, 7*mib + 1, 7*mib + 1},
	} {
		if got := s3.partSize(c.size, c.want); got != c.s3 {
			t.Errorf("S3, %d bytes, %d wanted: parts of %d, want %d", c.size, c.want, got, c.s3)
		}
		if got := gcs.partSize(c.size, c.want); got != c.gcs {
			t.Errorf("GCS, %d bytes, %d wanted: parts of %d, want %d", c.size, c.want, got, c.gcs)
		}
	}
}

// TestOpenPartSizes counts what all parts of a source of unknown length come to.
func TestOpenPartSizes(t *testing.T) {
	for name, c := range map[string]struct {
		back  parted
		parts int
		least int64 // bytes of all of them
		most  int64 // bytes of one
	}{
		"S3":  {&s3Backend{}, s3MaxParts, 5 << 40, 5 << 30},
		"GCS": {&gcsBackend{}, gcsMaxParts, 512 << 30, 5 << 30},
		"mem": {&memBackend{}, 1 << 20, 1 << 40, memPart},
	} {
		size, all, last := partSizes(c.back, -1), int64(0), 0
		for n := range c.parts {
			if size(n) < last {
				t.Errorf("%s: part %d is shorter than the one before", name, n)
			}
			last = size(n)
			all += int64(last)
		}
		if all < c.least || int64(last) > c.most {
			t.Errorf("%s: %d parts hold %d bytes, want at least %d; the last has %d, want at most %d", name, c.parts, all, c.least, last, c.most)
		}
	}
}

// TestUnsignedBodies wants a SHA-256 in the signature exactly where the network
// could change a body unseen.
func TestUnsignedBodies(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"": true, "https://s3.example.com": true, "http://127.0.0.1:9000": true, "http://[::1]:9000": true, "http://localhost:9000": true,
		"http://minio.internal:9000": false, "http://10.0.0.1": false,
	} {
		if got := (s3Options{}).unsigned(&endpoint); got != want {
			t.Errorf("%q: %v, want %v", endpoint, got, want)
		}
	}
}
