//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// example is a tree with one of each.
func example(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "train.py"), "print('<é>')\n", 0o644)
	write(t, filepath.Join(dir, "bin/run.sh"), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(dir, "bin-same"), "#!/bin/sh\n", 0o640)
	write(t, filepath.Join(dir, "empty"), "", 0o400)
	write(t, filepath.Join(dir, ".heirloomignore"), "*.log\n", 0o644)
	write(t, filepath.Join(dir, "x.log"), "no", 0o644)
	write(t, filepath.Join(dir, ".git/config"), "no", 0o644)
	check(t, os.MkdirAll(filepath.Join(dir, "dirs/closed"), 0o755))
	check(t, os.Chmod(filepath.Join(dir, "dirs/closed"), 0o555))
	check(t, os.Chmod(filepath.Join(dir, "dirs"), 0o750))
	check(t, os.Chmod(filepath.Join(dir, "bin"), 0o755))
	for name, target := range map[string]string{"link": "bin/run.sh", "out": "../../etc/passwd", "dangling": "no where", "loop": "loop", "bin/up": ".."} {
		check(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return dir
}

func openStore(t *testing.T, url string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// TestGoldenManifest fixes the stored form: what other releases wrote must keep its
// digest.
func TestGoldenManifest(t *testing.T) {
	tree, err := Scan(t.Context(), example(t), nil)
	check(t, err)
	name := filepath.Join("testdata", "manifest.json")
	if os.Getenv("HEIRLOOM_UPDATE") != "" {
		check(t, os.MkdirAll("testdata", 0o755))
		check(t, os.WriteFile(name, tree.manifest, 0o644))
	}
	want, err := os.ReadFile(name)
	check(t, err)
	if !bytes.Equal(tree.manifest, want) {
		t.Errorf("manifest\n%swant\n%s", tree.manifest, want)
	}
	if tree.Digest != store.DigestOf(want) {
		t.Errorf("digest %s", tree.Digest)
	}
	back, err := decode(want, store.DigestOf(want))
	check(t, err)
	if !slices.Equal(back.Entries, tree.Entries) || back.Files != tree.Files || back.Bytes != tree.Bytes {
		t.Errorf("read back %+v", back)
	}
}

func TestRestoreIsEqual(t *testing.T) {
	s := openStore(t, "mem://", nil)
	dir := example(t)
	tree, err := Scan(t.Context(), dir, nil)
	check(t, err)
	kept, err := tree.Keep(t.Context(), s)
	check(t, err)
	if kept.Known || kept.Sent != 4 { // two files are equal
		t.Errorf("kept %+v", kept)
	}
	target := filepath.Join(t.TempDir(), "new", "dir")
	restored, err := Restore(t.Context(), s, tree.Digest, target)
	check(t, err)
	again, err := Scan(t.Context(), target, nil)
	check(t, err)
	if again.Digest != tree.Digest || restored.Digest != tree.Digest {
		t.Errorf("restored\n%swant\n%s", again.manifest, tree.manifest)
	}
	if _, err := os.Lstat(filepath.Join(target, ".git")); err == nil {
		t.Error(".git was kept")
	}
	if _, err := Restore(t.Context(), s, tree.Digest, target); !errors.Is(err, store.ErrExist) {
		t.Errorf("into a full directory: %v", err)
	}
	check(t, os.Chmod(filepath.Join(target, "dirs/closed"), 0o755))
	check(t, os.Chmod(filepath.Join(dir, "dirs/closed"), 0o755))
}

// TestUnchangedIsOneRequest counts what an equal tree costs, from another directory.
func TestUnchangedIsOneRequest(t *testing.T) {
	count := map[string]int{}
	var mu sync.Mutex // guards count
	s := openStore(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		mu.Lock()
		count[r.Op]++
		mu.Unlock()
		return do()
	}})
	for i, want := range []map[string]int{
		{"stat": 1, "list": 1, "create": 40, "put": 1},
		{"stat": 1},
		{"stat": 1, "list": 1, "create": 1, "put": 1},
	} {
		dir := t.TempDir()
		for f := range 40 {
			write(t, filepath.Join(dir, fmt.Sprintf("d/%d", f)), fmt.Sprint("content ", f), 0o644)
		}
		if i == 2 {
			write(t, filepath.Join(dir, "d/7"), "another", 0o644)
		}
		tree, err := Scan(t.Context(), dir, nil)
		check(t, err)
		clear(count)
		kept, err := tree.Keep(t.Context(), s)
		check(t, err)
		if fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("round %d: requests %v, want %v (%+v)", i, count, want, kept)
		}
	}
}

// TestManifestComesLast breaks the store at each write: what is visible then is no
// tree, and the same call completes it.
func TestManifestComesLast(t *testing.T) {
	dir := example(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	write(t, filepath.Join(dir, "big"), string(big), 0o644)
	tree, err := Scan(t.Context(), dir, nil)
	check(t, err)
	place := t.TempDir()
	for n := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		var writes atomic.Int64
		s := openStore(t, place, &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
			if (r.Op == "create" || r.Op == "put") && int(writes.Add(1)) > n {
				cancel()
				return context.Canceled
			}
			return do()
		}})
		_, err := tree.Keep(ctx, s)
		cancel()
		if _, missing := Load(t.Context(), s, tree.Digest); missing == nil {
			if _, err := Restore(t.Context(), s, tree.Digest, filepath.Join(t.TempDir(), "r")); err != nil {
				t.Fatalf("after %d writes there is a manifest, and: %v", n, err)
			}
		} else if err == nil {
			t.Fatalf("after %d writes: %v", n, missing)
		}
	}
	s := openStore(t, place, nil)
	_, err = tree.Keep(t.Context(), s)
	check(t, err)
	_, err = Restore(t.Context(), s, tree.Digest, filepath.Join(t.TempDir(), "r"))
	check(t, err)
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, path, want string
		make             func(path string) error
	}{
		{"pipe", "d/pipe", "a named pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }},
		{"socket", "sock", "a socket", func(p string) error {
			l, err := net.Listen("unix", p)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		}},
		{"name", "d/\xff", "not UTF-8", func(p string) error { return os.WriteFile(p, nil, 0o644) }},
		{"target", "l", "not UTF-8", func(p string) error { return os.Symlink("\xff", p) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "ws") // short: a socket's name is limited
			check(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			check(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
			check(t, c.make(filepath.Join(dir, c.path)))
			_, err = Scan(t.Context(), dir, nil)
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", c.path)) {
				t.Errorf("error %v", err)
			}
			write(t, filepath.Join(dir, ".heirloomignore"), "pipe\nsock\nd/\nl\n", 0o644)
			_, err = Scan(t.Context(), dir, nil)
			check(t, err)
		})
	}
	if _, err := Scan(t.Context(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	dir := t.TempDir()
	if _, err := Scan(t.Context(), dir, &Options{Exclude: []string{dir}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("the store itself: %v", err)
	}
}

func TestExclude(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".heirloom/runs/x"), "x", 0o644)
	write(t, filepath.Join(dir, "a"), "a", 0o644)
	tree, err := Scan(t.Context(), dir, &Options{Exclude: []string{filepath.Join(dir, ".heirloom")}})
	check(t, err)
	if got := paths(tree); !slices.Equal(got, []string{"a"}) {
		t.Errorf("kept %q", got)
	}
}

// TestChangeWhileRead changes a file between each two looks at it.
func TestChangeWhileRead(t *testing.T) {
	for _, size := range []int{10, smallFile + 1, 3 << 20} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		write(t, path, strings.Repeat("a", size), 0o644)
		info, err := os.Lstat(path)
		check(t, err)
		e := found{Entry{Path: "f", Kind: File, Size: int64(size)}, info}
		write(t, path, strings.Repeat("b", size+1), 0o644)
		if _, err := hashFile(t.Context(), path, e); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%d bytes, longer: %v", size, err)
		}
		check(t, os.Rename(path, path+"2"))
		write(t, path, strings.Repeat("a", size), 0o644)
		if _, err := hashFile(t.Context(), path, e); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%d bytes, replaced: %v", size, err)
		}
		check(t, os.Remove(path+"2"))
		tree, err := Scan(t.Context(), dir, nil)
		check(t, err)
		write(t, path, strings.Repeat("c", size), 0o644)
		s := openStore(t, "mem://", nil)
		if _, err := tree.Keep(t.Context(), s); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%d bytes, before it was sent: %v", size, err)
		}
		for object := range s.List(t.Context(), "") {
			t.Errorf("%d bytes: %s was stored", size, object.Key)
		}
	}
}

// TestCorrupt damages what is stored in each way.
func TestCorrupt(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "content", 0o644)
	write(t, filepath.Join(dir, "d/b"), "other", 0o644)
	tree, err := Scan(t.Context(), dir, nil)
	check(t, err)
	object := objectKey(store.DigestOf([]byte("content")))
	for name, damage := range map[string]func(s *store.Store) error{
		"torn manifest":    func(s *store.Store) error { return s.Put(t.Context(), Key(tree.Digest), tree.manifest[:50]) },
		"empty manifest":   func(s *store.Store) error { return s.Put(t.Context(), Key(tree.Digest), nil) },
		"foreign manifest": func(s *store.Store) error { return s.Put(t.Context(), Key(tree.Digest), []byte("{}")) },
		"missing content":  func(s *store.Store) error { return s.Delete(t.Context(), object) },
		"torn content":     func(s *store.Store) error { return s.Put(t.Context(), object, []byte("cont")) },
		"other content":    func(s *store.Store) error { return s.Put(t.Context(), object, []byte("CONTENT")) },
		"longer content":   func(s *store.Store) error { return s.Put(t.Context(), object, []byte("content ")) },
	} {
		s := openStore(t, "mem://", nil)
		_, err := tree.Keep(t.Context(), s)
		check(t, err)
		check(t, damage(s))
		target := t.TempDir()
		if _, err := Restore(t.Context(), s, tree.Digest, target); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := os.ReadDir(target); err != nil || len(list) > 0 {
			t.Errorf("%s: left %v", name, list)
		}
		if !strings.HasSuffix(name, "manifest") {
			continue
		}
		_, err = tree.Keep(t.Context(), s) // which mends it
		check(t, err)
		_, err = Restore(t.Context(), s, tree.Digest, target)
		check(t, err)
	}
}

// TestNoWayOut gives manifests that would lead out of the directory: each is
// refused, though its digest is right.
func TestNoWayOut(t *testing.T) {
	s := openStore(t, "mem://", nil)
	content := store.DigestOf([]byte("evil"))
	check(t, s.Put(t.Context(), objectKey(content), []byte("evil")))
	file := func(path string) string {
		return fmt.Sprintf(`{"path":%q,"type":"file","mode":"0644","size_bytes":4,"sha256":%q}`, path, content)
	}
	link := func(path, target string) string {
		return fmt.Sprintf(`{"path":%q,"type":"link","target":%q}`, path, target)
	}
	outside := t.TempDir()
	for name, entries := range map[string][]string{
		"up":            {file("../evil")},
		"absolute":      {file("/tmp/evil")},
		"within":        {`{"path":"a","type":"dir","mode":"0755"}`, file("a/../../evil")},
		"dot":           {file("./evil")},
		"empty":         {file("")},
		"slashes":       {`{"path":"a","type":"dir","mode":"0755"}`, file("a//evil")},
		"through link":  {link("l", outside), file("l/evil")},
		"link twice":    {link("l", outside), `{"path":"l","type":"dir","mode":"0755"}`, file("l/evil")},
		"order":         {file("b"), file("a")},
		"twice":         {file("a"), file("a")},
		"no directory":  {file("a/b")},
		"below file":    {file("a"), file("a/b")},
		"setuid":        {strings.Replace(file("a"), "0644", "4755", 1)},
		"negative":      {strings.Replace(file("a"), ":4,", ":-4,", 1)},
		"no size":       {strings.Replace(file("a"), `"size_bytes":4,`, "", 1)},
		"digest":        {strings.Replace(file("a"), string(content), "../../../../etc/passwd", 1)},
		"nul":           {`{"path":"a\u0000b","type":"dir","mode":"0755"}`},
		"kind":          {`{"path":"a","type":"device","mode":"0644"}`},
		"empty target":  {link("l", "")},
		"not an object": {`[]`},
	} {
		count := strings.Count(strings.Join(entries, ""), `"file"`)
		size := 4 * count
		body := []byte(fmt.Sprintf("{\"format\":1,\"files\":%d,\"size_bytes\":%d}\n%s\n", count, size, strings.Join(entries, "\n")))
		digest := store.DigestOf(body)
		check(t, s.Put(t.Context(), Key(digest), body))
		parent := t.TempDir()
		if _, err := Restore(t.Context(), s, digest, filepath.Join(parent, "x")); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
			t.Fatalf("%s: wrote %v", name, list)
		}
	}
	if _, err := Load(t.Context(), s, "../../x"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a name that is no digest: %v", err)
	}
	if _, err := Load(t.Context(), s, store.DigestOf(nil)); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("a tree that is not there: %v", err)
	}
}

// TestBoundedMemory stores and restores far more than it may hold.
func TestBoundedMemory(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		check(t, err)
		for j := range 16 {
			_, err := f.Write(bytes.Repeat([]byte{byte(i), byte(j)}, 512<<10))
			check(t, err)
		}
		check(t, f.Close())
	}
	s := openStore(t, t.TempDir(), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tree, err := Scan(t.Context(), dir, nil)
	check(t, err)
	_, err = tree.Keep(t.Context(), s)
	check(t, err)
	_, err = Restore(t.Context(), s, tree.Digest, t.TempDir())
	check(t, err)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(tree.Bytes)*3/4 {
		t.Errorf("allocated %d bytes for a tree of %d", allocated, tree.Bytes)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("{\"format\":1,\"files\":0,\"size_bytes\":0}\n"))
	f.Add([]byte("{\"format\":1,\"files\":0,\"size_bytes\":0}\n{\"path\":\"a\",\"type\":\"dir\",\"mode\":\"0755\"}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		tree, err := decode(body, store.DigestOf(body))
		if err != nil {
			return
		}
		for _, e := range tree.Entries {
			if !filepath.IsLocal(e.Path) {
				t.Errorf("%q leads out", e.Path)
			}
		}
	})
}
