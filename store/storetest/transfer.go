package storetest

import (
	"context"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/store"
)

func transferCases() []Case {
	return []Case{
		{"a file goes up and comes down the same, with its checksum", transferFiles},
		{"a transfer that may only create replaces nothing", transferCreates},
		{"a transfer with an ended context leaves nothing", transferCanceled},
		{"an interrupted upload is resumed", uploadResumed},
		{"an aborted upload leaves nothing", uploadAborted},
	}
}

// casePart is the shortest part that S3 takes.
const casePart = 5 << 20

func withDir(t T, do func(dir string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "heirloom-transfer-")
	must(t, err, "make a directory")
	defer os.RemoveAll(dir)
	do(dir)
}

func wantNoneUnfinished(t T, s *store.Store) {
	t.Helper()
	for u, err := range s.Unfinished(t.Context(), "") {
		t.Errorf("an upload of %q is left over, %v", u.Key, err)
	}
}

func transferFiles(t T, s *store.Store) {
	withDir(t, func(dir string) {
		up, down := filepath.Join(dir, "up"), filepath.Join(dir, "new", "down")
		opts := &store.TransferOptions{PartSize: casePart, JournalDir: filepath.Join(dir, "notes")}
		for _, size := range []int{0, 1, casePart - 1, casePart, casePart + 1, 2*casePart + 3} {
			body := pattern(size)
			must(t, os.WriteFile(up, []byte(body), 0o600), "write a file")
			sent, err := s.Upload(t.Context(), up, "d/o", opts)
			must(t, err, "upload %d bytes", size)
			got, err := s.Download(t.Context(), "d/o", down, opts)
			must(t, err, "download %d bytes", size)
			found, err := os.ReadFile(down)
			if err != nil || string(found) != body {
				t.Errorf("%d bytes came down, %v, want %d", len(found), err, size)
			}
			if sent.Size != int64(size) || got.Size != int64(size) || sent.CRC32C != got.CRC32C || sent.Key != "d/o" || got.Key != "d/o" {
				t.Errorf("%d bytes: up %+v, down %+v", size, sent, got)
			}
		}
		wantNoneUnfinished(t, s)
	})
}

func transferCreates(t T, s *store.Store) {
	withDir(t, func(dir string) {
		path := filepath.Join(dir, "f")
		opts := &store.TransferOptions{Create: true, PartSize: casePart}
		body := pattern(1000)
		must(t, os.WriteFile(path, []byte(body), 0o600), "write a file")
		put(t, s, "o", "old bytes")
		wantKind(t, second(s.Upload(t.Context(), path, "o", opts)), store.ErrExist, "upload over an object")
		wantBody(t, s, "o", "old bytes")
		wantKind(t, second(s.Download(t.Context(), "o", path, opts)), store.ErrExist, "download over a file")
		found, err := os.ReadFile(path)
		if err != nil || string(found) != body {
			t.Errorf("the file has %d bytes, %v, want its own %d", len(found), err, len(body))
		}
		must(t, second(s.Upload(t.Context(), path, "p", opts)), "upload")
		wantBody(t, s, "p", body)
		wantNoneUnfinished(t, s)
	})
}

func transferCanceled(t T, s *store.Store) {
	withDir(t, func(dir string) {
		path, none := filepath.Join(dir, "f"), filepath.Join(dir, "none")
		must(t, os.WriteFile(path, []byte(pattern(casePart+1)), 0o600), "write a file")
		put(t, s, "old", "old bytes")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		opts := &store.TransferOptions{PartSize: casePart}
		wantKind(t, second(s.Upload(ctx, path, "o", opts)), context.Canceled, "upload")
		wantAbsent(t, s, "o")
		wantKind(t, second(s.Download(ctx, "old", none, opts)), context.Canceled, "download")
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("the directory holds %v, %v", left, err)
		}
		wantNoneUnfinished(t, s)
	})
}
