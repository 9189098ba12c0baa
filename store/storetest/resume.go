package storetest

import (
	"context"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/store"
)

// interrupt breaks an upload of three parts to key off after the first of them,
// and gives its file, its body, and options by which the same call goes on.
func interrupt(t T, s *store.Store, dir string, key store.Key) (path, body string, opts store.TransferOptions) {
	t.Helper()
	path, body = filepath.Join(dir, "f"), pattern(2*casePart+3)
	must(t, os.WriteFile(path, []byte(body), 0o600), "write a file")
	opts = store.TransferOptions{PartSize: casePart, Parallel: 1, JournalDir: filepath.Join(dir, "notes")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	broken := opts
	broken.Progress = func(p store.Progress) {
		if p.Bytes > 0 {
			cancel()
		}
	}
	wantKind(t, second(s.Upload(ctx, path, key, &broken)), context.Canceled, "an upload that is broken off")
	wantAbsent(t, s, key)
	return path, body, opts
}

// unfinished are the uploads of key that were begun and not ended.
func unfinished(t T, s *store.Store, key store.Key) (list []store.Unfinished) {
	t.Helper()
	for u, err := range s.Unfinished(t.Context(), key) {
		must(t, err, "list the unfinished uploads")
		if u.Key == key {
			list = append(list, u)
		}
	}
	return list
}

func uploadResumed(t T, s *store.Store) {
	if !s.Capabilities().Resume {
		t.Logf("this backend takes no parts: an upload begins anew")
		return
	}
	withDir(t, func(dir string) {
		path, body, opts := interrupt(t, s, dir, "d/o")
		if n := len(unfinished(t, s, "d/o")); n != 1 {
			t.Errorf("%d unfinished uploads are listed, want the one that was broken off", n)
		}
		done, err := s.Upload(t.Context(), path, "d/o", &opts)
		must(t, err, "go on with the upload")
		if done.Resumed != casePart || done.Size != int64(len(body)) {
			t.Errorf("of %d bytes %d were not sent again, want %d", done.Size, done.Resumed, casePart)
		}
		wantBody(t, s, "d/o", body)
		wantNoneUnfinished(t, s)
	})
}

func uploadAborted(t T, s *store.Store) {
	if !s.Capabilities().Resume {
		t.Logf("this backend takes no parts: there is nothing to abort")
		return
	}
	withDir(t, func(dir string) {
		path, body, opts := interrupt(t, s, dir, "o")
		for _, u := range unfinished(t, s, "o") {
			must(t, s.Abort(t.Context(), u), "abort")
			must(t, s.Abort(t.Context(), u), "abort again")
		}
		wantNoneUnfinished(t, s)
		wantAbsent(t, s, "o")
		done, err := s.Upload(t.Context(), path, "o", &opts)
		must(t, err, "upload anew")
		if done.Resumed != 0 {
			t.Errorf("%d bytes of an aborted upload were still there", done.Resumed)
		}
		wantBody(t, s, "o", body)
		wantNoneUnfinished(t, s)
	})
}
