package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// mirror is a directory and the store it goes to.
type mirror struct {
	t    *testing.T
	dir  string
	s    *store.Store
	opts store.SyncOptions
	y    *store.Sync
	now  time.Time // what the Sync takes for now
}

const mirrored = store.Key("runs/r1")

// newMirror has a clock two hours ahead, so that everything has long stood
// still, unless a test turns it back.
func newMirror(t *testing.T, s *store.Store, opts store.SyncOptions) *mirror {
	t.Helper()
	m := &mirror{t: t, dir: t.TempDir(), s: s, opts: opts, now: time.Now().Add(2 * time.Hour)}
	m.opts.Now = func() time.Time { return m.now }
	m.restart()
	return m
}

// restart gives the Sync that a new process would have.
func (m *mirror) restart() {
	m.t.Helper()
	if m.y != nil {
		m.closed()
	}
	y, err := m.s.NewSync(m.dir, mirrored, &m.opts)
	if err != nil {
		m.t.Fatal(err)
	}
	m.y = y
	m.t.Cleanup(func() { _ = y.Close() })
}

func (m *mirror) closed() {
	m.t.Helper()
	if err := m.y.Close(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) write(path, text string) {
	m.t.Helper()
	name := filepath.Join(m.dir, filepath.FromSlash(path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mirror) pass() store.SyncReport {
	m.t.Helper()
	report, err := m.y.Pass(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return report
}

// requests counts what do asks of the store.
func (m *mirror) requests(do func()) map[string]int64 {
	before := m.s.Stats().Requests
	do()
	after := m.s.Stats().Requests
	for op, n := range before {
		if after[op] -= n; after[op] == 0 {
			delete(after, op)
		}
	}
	return after
}

// want complains unless the store holds exactly these files, with their bodies.
func (m *mirror) want(files map[string]string) {
	m.t.Helper()
	got := map[string]string{}
	for obj, err := range m.s.List(m.t.Context(), string(mirrored)+"/") {
		if err != nil {
			m.t.Fatal(err)
		}
		path := strings.TrimPrefix(string(obj.Key), string(mirrored)+"/")
		if strings.HasPrefix(path, ".heirloom/") {
			continue
		}
		body, err := m.s.Get(m.t.Context(), obj.Key)
		if err != nil {
			m.t.Fatal(err)
		}
		got[path] = string(body)
	}
	if !maps.Equal(got, files) {
		m.t.Errorf("the store has %q, want %q", got, files)
	}
}

func waiting(r store.SyncReport) []string {
	var list []string
	for _, w := range r.Waiting {
		list = append(list, w.Path)
	}
	return list
}

func TestSyncMirrors(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{})
	m.write("a.txt", "a")
	m.write("sub/b.txt", "bb")
	if r := m.pass(); r.Uploaded != 2 || r.Bytes != 3 || r.Unchanged != 0 || len(r.Waiting) != 0 {
		t.Errorf("got %+v", r)
	}
	m.want(map[string]string{"a.txt": "a", "sub/b.txt": "bb"})

	if got := m.requests(func() { m.pass() }); !maps.Equal(got, map[string]int64{"list": 1}) {
		t.Errorf("an unchanged tree took %v", got)
	}
	m.restart()
	if got := m.requests(func() { m.pass() }); !maps.Equal(got, map[string]int64{"list": 1}) {
		t.Errorf("a new process took %v", got)
	}
	if err := os.RemoveAll(filepath.Join(m.dir, ".heirloom-sync")); err != nil {
		t.Fatal(err)
	}
	m.restart()
	if got := m.requests(func() { m.pass() }); !maps.Equal(got, map[string]int64{"list": 1, "get": 1}) {
		t.Errorf("without its notes a new process took %v", got)
	}
	m.write("a.txt", "A")
	if got := m.requests(func() { m.pass() }); got["put"] != 2 || got["list"] != 1 { // it and the manifest
		t.Errorf("one changed file took %v", got)
	}
	m.want(map[string]string{"a.txt": "A", "sub/b.txt": "bb"})
}

// Touching a file, or writing the same bytes, sends nothing but its new time.
func TestSyncGoesByContent(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{})
	m.write("a", "text")
	m.pass()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(m.dir, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	if r := m.pass(); r.Uploaded != 0 || r.Unchanged != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestSyncManifest(t *testing.T) {
	m := newMirror(t, openStore(t, t.TempDir()), store.SyncOptions{})
	m.write("d/a", "123456789")
	m.pass()
	body, err := m.s.Get(t.Context(), store.SyncManifest(mirrored, ""))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Format int
		Files  []struct {
			Path, SHA256, CRC32C, Version string
			Size                          int64
			Mode                          os.FileMode
			Mtime                         time.Time
		}
	}
	if err := json.Unmarshal(body, &manifest); err != nil || manifest.Format != 1 || len(manifest.Files) != 1 {
		t.Fatalf("got %s, %v", body, err)
	}
	obj, err := m.s.Stat(t.Context(), mirrored.Join("d/a"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(m.dir, "d/a"))
	if err != nil {
		t.Fatal(err)
	}
	e := manifest.Files[0]
	if e.Path != "d/a" || e.Size != 9 || e.SHA256 != string(store.DigestOf([]byte("123456789"))) || e.CRC32C != "e3069283" ||
		e.Version != obj.Version || e.Mode != info.Mode().Perm() || !e.Mtime.Equal(info.ModTime()) {
		t.Errorf("got %+v", e)
	}
}

func TestSyncDeletes(t *testing.T) {
	for _, remove := range []bool{false, true} {
		m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Delete: remove})
		m.write("kept", "k")
		m.write("gone", "g")
		m.write("old/name", "n")
		m.pass()
		if err := m.s.Put(t.Context(), mirrored.Join("foreign"), []byte("f")); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(filepath.Join(m.dir, "gone")), os.Rename(filepath.Join(m.dir, "old"), filepath.Join(m.dir, "new"))); err != nil {
			t.Fatal(err)
		}
		r := m.pass()
		want := map[string]string{"kept": "k", "new/name": "n", "foreign": "f"}
		if !remove {
			want["gone"], want["old/name"] = "g", "n"
		}
		m.want(want)
		if r.Uploaded != 1 || (r.Deleted == 2) != remove {
			t.Errorf("got %+v", r)
		}
	}
}

// A directory that cannot be read whole says nothing about what is gone.
func TestSyncDeletesNothingOnDoubt(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Delete: true})
	m.write("a", "a")
	m.write("d/b", "b")
	m.pass()
	if err := os.Rename(m.dir, m.dir+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.y.Pass(t.Context()); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	m.want(map[string]string{"a": "a", "d/b": "b"})
}

// A file takes the place of a directory and the other way round.
func TestSyncReplacesAFileByADirectory(t *testing.T) {
	m := newMirror(t, openStore(t, t.TempDir()), store.SyncOptions{Delete: true})
	m.write("a", "file")
	m.write("d/x", "x")
	m.pass()
	if err := errors.Join(os.Remove(filepath.Join(m.dir, "a")), os.RemoveAll(filepath.Join(m.dir, "d"))); err != nil {
		t.Fatal(err)
	}
	m.write("a/b", "below")
	m.write("d", "file now")
	m.pass()
	m.want(map[string]string{"a/b": "below", "d": "file now"})
}

func TestSyncReplicas(t *testing.T) {
	s := openStore(t, "mem://")
	a := newMirror(t, s, store.SyncOptions{Replica: "node-a"})
	b := newMirror(t, s, store.SyncOptions{Replica: "node-b"})
	a.write("same", "1")
	a.write("differs", "from a")
	b.write("same", "1")
	b.write("differs", "from b")
	b.write("own", "b")
	a.pass()
	_, err := b.y.Pass(t.Context())
	if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "node-a") || !strings.Contains(err.Error(), "node-b") || !strings.Contains(err.Error(), "differs") {
		t.Errorf("got %v", err)
	}
	a.want(map[string]string{"same": "1", "differs": "from a", "own": "b"})
	if _, err := b.y.Final(t.Context()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
	b.write("differs", "from a")
	if _, err := b.y.Final(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSyncSkips(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Skip: func(path string) bool { return path == "no" || path == "not/this" }})
	m.write("a", "a")
	m.write("no/b", "b")
	m.write("not/this", "c")
	m.write(".heirloom/x", "ours")
	if err := os.Symlink("a", filepath.Join(m.dir, "link")); err != nil {
		t.Skip(err)
	}
	r := m.pass()
	m.want(map[string]string{"a": "a"})
	if len(r.Skipped) != 2 || r.Skipped[0].Path != ".heirloom" || r.Skipped[1].Path != "link" {
		t.Errorf("got %+v", r.Skipped)
	}
}

// Nothing is sent while it is young, and everything at the end.
func TestSyncWaitsForStillness(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Stable: time.Minute})
	m.now = time.Now()
	m.write("young", "y")
	m.write("half.tmp", "h")
	m.restart() // which saw nobody close them
	if r := m.pass(); r.Uploaded != 0 || !slices.Equal(waiting(r), []string{"half.tmp", "young"}) {
		t.Errorf("got %+v", r)
	}
	m.now = m.now.Add(59 * time.Second)
	if r := m.pass(); len(r.Waiting) != 2 {
		t.Errorf("got %+v", r)
	}
	m.now = m.now.Add(time.Second)
	if r := m.pass(); r.Uploaded != 1 || !slices.Equal(waiting(r), []string{"half.tmp"}) {
		t.Errorf("got %+v", r)
	}
	r, err := m.y.Final(t.Context())
	if err != nil || r.Uploaded != 1 || r.Unchanged != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	m.want(map[string]string{"young": "y", "half.tmp": "h"})
}

func TestSyncReady(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Stable: time.Hour, Ready: []string{"*.done"}})
	m.now = time.Now()
	m.write("step1/data", "d")
	m.write("step2/data", "d")
	m.write("step1/mark.done", "")
	m.restart() // which saw nobody close them
	if r := m.pass(); r.Uploaded != 2 || !slices.Equal(waiting(r), []string{"step2/data"}) {
		t.Errorf("got %+v", r)
	}
	if _, err := m.s.NewSync(m.dir, mirrored, &store.SyncOptions{Ready: []string{"["}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// What fails does not keep the rest from being sent, and is tried again.
func TestSyncFailures(t *testing.T) {
	deny := true
	s := openWith(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if deny && strings.HasSuffix(r.Key, "/denied") {
			return store.ErrPermission
		}
		return do()
	}})
	m := newMirror(t, s, store.SyncOptions{})
	m.write("denied", "d")
	m.write("fine", "f")
	if _, err := m.y.Final(t.Context()); !errors.Is(err, store.ErrPermission) {
		t.Errorf("got %v", err)
	}
	m.want(map[string]string{"fine": "f"})
	deny = false
	if r, err := m.y.Final(t.Context()); err != nil || r.Uploaded != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	m.closed()
	if _, err := m.y.Pass(t.Context()); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("after Close: %v", err)
	}
}

// A process that goes on elsewhere, as a further attempt does in a scratch
// directory of its own, keeps in the manifest what those before it sent, and does
// not take its absence for a deletion.
func TestSyncGoesOnElsewhere(t *testing.T) {
	s := openStore(t, "mem://")
	first := newMirror(t, s, store.SyncOptions{})
	first.write("kept", "k")
	first.write("changes", "one")
	first.write("same", "s")
	first.pass()
	second := newMirror(t, s, store.SyncOptions{Delete: true})
	second.write("changes", "two")
	second.write("same", "s")
	if r := second.pass(); r.Uploaded != 1 || r.Unchanged != 1 || r.Deleted != 0 {
		t.Errorf("got %+v", r)
	}
	second.restart()
	second.write("new", "n")
	second.pass()
	second.want(map[string]string{"kept": "k", "changes": "two", "same": "s", "new": "n"})
	body, err := s.Get(t.Context(), store.SyncManifest(mirrored, ""))
	if err != nil || strings.Count(string(body), `"path"`) != 4 {
		t.Errorf("the manifest is %s, %v", body, err)
	}
}
