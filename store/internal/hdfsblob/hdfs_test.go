package hdfsblob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestHDFS runs what needs a healthy cluster, on one.
func TestHDFS(t *testing.T) {
	h := servers.Hadoop(t, nil)
	for _, c := range []struct {
		name string
		run  func(t *testing.T, authority string)
	}{
		{"conformance", testConformance},
		{"create race", testCreateRace},
		{"readers see whole objects", testReplaceRace},
		{"create against delete", testDeleteRace},
		{"published twice", testPublishedTwice},
		{"lost answers", testLostAnswers},
		{"lost completion", testLostComplete},
		{"writers killed", testKilledWriters},
		{"errors", testErrors},
		{"listing", testListing},
		{"ranges", testRanges},
		{"cancel", testCancel},
		{"sweep", testSweep},
		{"parts", testParts},
		{"parts in another process", testPartsResumed},
		{"parts race", testPartsRace},
		{"parts refused", testPartsRefused},
		{"parts in a snapshot", testPartsInSnapshot},
		{"unfinished", testUnfinished},
		{"keys", testKeys},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h.Authority) })
	}
	t.Run("wrong ports", func(t *testing.T) { testWrongPorts(t, h) })
}

// testWrongPorts asks the web server of the NameNode, and of a DataNode.
func testWrongPorts(t *testing.T, h *servers.HDFS) {
	for _, address := range []string{h.Page(0), h.DataPage(0)} {
		b := open(t, address, nil)
		_, err := b.Stat(t.Context(), "k")
		if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), "dfs.namenode.rpc-address") {
			t.Errorf("stat by the web server at %s: %v, want ErrInvalid that says which port to take", address, err)
		}
	}
}

// open makes a bucket of its own directory.
func open(t *testing.T, authority string, opts *Options) *Bucket {
	t.Helper()
	root := "/" + strings.NewReplacer("/", "-", " ", "-", ":", "-").Replace(t.Name())
	b, err := Open(authority, root, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func (b *Bucket) get(t *testing.T, key string) ([]byte, error) {
	t.Helper()
	return b.getAll(t.Context(), key)
}

func (b *Bucket) getAll(ctx context.Context, key string) ([]byte, error) {
	r, err := b.Open(ctx, key, 0, -1, "")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (b *Bucket) names(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	for e, err := range b.ReadDir(t.Context(), dir) {
		if err != nil {
			t.Fatal(err)
		}
		if e.IsDir {
			e.Key += "/"
		}
		names = append(names, e.Key)
	}
	return strings.Join(names, " ")
}

// raw lists a directory as HDFS has it.
func (b *Bucket) raw(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := b.with(t.Context(), "list", dir, func(c *client) error {
		infos, err := c.ReadDir(dir)
		for _, info := range infos {
			names = append(names, info.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// rounds is n where HEIRLOOM_STRESS=1, else a twentieth.
func rounds(n int) int {
	if os.Getenv("HEIRLOOM_STRESS") == "1" {
		return n
	}
	return max(1, n/20)
}

// testPublishedTwice publishes again what was published, as after an answer that did not come.
func testPublishedTwice(t *testing.T, authority string) {
	b := open(t, authority, nil)
	ctx := t.Context()
	for _, mode := range []dirtree.Mode{dirtree.Create, dirtree.Replace} {
		w, err := b.NewWriter(ctx, fmt.Sprintf("k%d", mode))
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("ours"))
		made, err := w.finish()
		if err != nil {
			t.Fatal(err)
		}
		w.lease.end(nil)
		for range 2 {
			if err := b.publish(ctx, made, w.temp, w.path, mode, ""); err != nil {
				t.Errorf("mode %d: %v, although the object is ours", mode, err)
			}
		}
	}
	if _, err := b.Create(ctx, "k0", []byte("theirs"), ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over an object: %v, want ErrExist", err)
	}
	o, err := b.stat(ctx, "k0")
	if err != nil {
		t.Fatal(err)
	}
	b.keepUnsure(b.Path("k0"), unsureWrite{id: "id", object: o.id})
	if id, err := b.WriteID(ctx, "k0"); id != "id" || err != nil {
		t.Errorf("WriteID is %q, %v", id, err)
	}
	if id, err := b.WriteID(ctx, "k1"); id != "" || err != nil {
		t.Errorf("WriteID of an object of others is %q, %v", id, err)
	}
}

// testErrors shows each kind that a user can bring about.
func testErrors(t *testing.T, authority string) {
	b := open(t, authority, nil)
	ctx := t.Context()
	if _, err := b.Put(ctx, "dir/file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	stranger := open(t, authority, &Options{User: "stranger"})
	_, statErr := b.Stat(ctx, "no")
	_, belowErr := b.Stat(ctx, "dir/file/below")
	_, dirErr := b.Stat(ctx, "dir")
	_, putDir := b.Put(ctx, "dir", []byte("x"))
	_, createDir := b.Create(ctx, "dir", []byte("x"), "")
	_, putBelow := b.Put(ctx, "dir/file/below", []byte("x"))
	_, foreign := stranger.Put(ctx, "k", []byte("x"))
	_, long := b.Put(ctx, strings.Repeat("x", 256), []byte("x"))
	_, versionErr := b.Open(ctx, "dir/file", 0, -1, "1-2-3")
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"stat what is not there", statErr, fs.ErrNotExist},
		{"stat below an object", belowErr, fs.ErrNotExist},
		{"stat a directory", dirErr, fs.ErrNotExist},
		{"put over a directory", putDir, syscall.EISDIR},
		{"create over a directory", createDir, fs.ErrInvalid},
		{"put below an object", putBelow, syscall.ENOTDIR},
		{"put where one may not", foreign, fs.ErrPermission},
		{"an element too long", long, fs.ErrInvalid},
		{"read another version", versionErr, dirtree.ErrConflict},
		{"delete what is not there", b.Delete(ctx, "no", nil), fs.ErrNotExist},
		{"delete a directory", b.Delete(ctx, "dir", nil), fs.ErrNotExist},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if left := b.raw(t, b.Dir()); left != "dir" {
		t.Errorf("failed writes left %q", left)
	}
	for _, err := range b.Walk(ctx, "dir/file/") {
		t.Errorf("a listing below an object: %v", err)
	}
}

func testListing(t *testing.T, authority string) {
	b := open(t, authority, nil)
	keys := []string{"a", "b-c", "b/x", "b/y/z", "b0", "c:d", "é", "日本", "~"}
	for _, k := range keys {
		if _, err := b.Put(t.Context(), k, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	err := b.with(t.Context(), "make", "", func(c *client) error { return c.MkdirAll(b.Dir()+"/empty", 0o755) })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.names(t, ""), "a b-c b/ b0 c:d ~ é 日本"; got != want {
		t.Errorf("the directory is %q, want %q", got, want)
	}
	var got []string
	for o, err := range b.Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if stat, err := b.Stat(t.Context(), o.Key); err != nil || stat != o {
			t.Errorf("the listing says %+v, stat %+v, %v", o, stat, err)
		}
		got = append(got, o.Key)
	}
	if got, want := strings.Join(got, " "), "a b-c b/x b/y/z b0 c:d ~ é 日本"; got != want {
		t.Errorf("the walk is %q, want %q", got, want)
	}
}

// testRanges reads ranges at the same time, across blocks.
func testRanges(t *testing.T, authority string) {
	b := open(t, authority, &Options{Conf: map[string]string{"dfs.blocksize": "1m"}})
	body := make([]byte, 5<<20+123)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	var o dirtree.Object
	err := patiently(t.Context(), func() (err error) {
		o, err = b.Put(t.Context(), "k", body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 32 {
		wait.Go(func() {
			from := rand.IntN(len(body) + 1)
			length := rand.IntN(len(body) + 10)
			r, err := b.Open(t.Context(), "k", int64(from), int64(length), o.Version)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if want := body[from:min(from+length, len(body))]; err != nil || !bytes.Equal(got, want) {
				t.Errorf("bytes %d+%d: %d bytes, %v, want %d", from, length, len(got), err, len(want))
			}
		})
	}
	wait.Wait()
}

// testCancel ends a write and a read that are under way.
func testCancel(t *testing.T, authority string) {
	b := open(t, authority, nil)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := b.NewWriter(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(make([]byte, 3<<20))
	cancel()
	if _, err := w.Commit(dirtree.Replace); !errors.Is(err, context.Canceled) {
		t.Errorf("commit after cancel: %v", err)
	}
	if left := b.raw(t, b.Dir()); left != "" {
		t.Errorf("a cancelled write left %q", left)
	}
	if _, err := b.Put(t.Context(), "k", make([]byte, 32<<20)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	r, err := b.Open(ctx, "k", 0, -1, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("read after cancel: %v", err)
	}
}

func testSweep(t *testing.T, authority string) {
	b := open(t, authority, nil)
	w, err := b.NewWriter(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("x"))
	w.drop() // as a crash does
	if n, err := b.Sweep(t.Context(), time.Hour, 0); n != 0 || err != nil {
		t.Errorf("sweep of what is young: %d, %v", n, err)
	}
	if n, err := b.Sweep(t.Context(), 0, time.Hour); n != 1 || err != nil {
		t.Errorf("sweep: %d, %v, want 1", n, err)
	}
}

func testKeys(t *testing.T, authority string) {
	b := open(t, authority, nil)
	for _, key := range []string{"a:b", ".snapshot", ".reserved/x", "__0x3a__", "a b", `a\b`, "*?[]{}", "%41", ".heirloom-0.tmp", "x/../y", "//", "\x00\x1f"} {
		if _, err := b.Create(t.Context(), key, []byte(key), ""); err != nil {
			t.Errorf("create %q: %v", key, err)
			continue
		}
		if got, err := b.get(t, key); string(got) != key || err != nil {
			t.Errorf("%q holds %q, %v", key, got, err)
		}
	}
	for _, key := range []string{"runs/local-x.y_z", "a b", "__0x", "é"} {
		if pathOf(key) != key {
			t.Errorf("the path of %q is %q", key, pathOf(key))
		}
	}
}
