package hdfsblob

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// putPart sends one part with its own checksum, patiently, since a NameNode that is slow to hear of a block refuses the
// one after the next.
func putPart(t *testing.T, b *Bucket, key, token string, body []byte) Part {
	t.Helper()
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	var tag string
	err := patiently(t.Context(), func() (err error) {
		tag, err = b.PutPart(t.Context(), key, token, bytes.NewReader(body), int64(len(body)), sum)
		return err
	})
	if err != nil {
		t.Errorf("part of %s: %v", key, err)
	}
	return Part{int64(len(body)), tag}
}

func begin(t *testing.T, b *Bucket, key string) string {
	t.Helper()
	token, err := b.Begin(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// testParts sends parts of several sizes at once, of which one is sent twice, and looks that nothing shows before the
// end and nothing stays after it.
func testParts(t *testing.T, authority string) {
	b := open(t, authority, &Options{Conf: map[string]string{"dfs.blocksize": "1m"}})
	for _, sizes := range [][]int{{0}, {5}, {1 << 20, 1 << 20, 7}, {3<<20 + 1, 3<<20 + 1, 2 << 20, 0}} {
		const key = "dir:x/ä b"
		token := begin(t, b, key)
		parts, bodies := make([]Part, len(sizes)), make([][]byte, len(sizes))
		var wait sync.WaitGroup
		for i, size := range sizes {
			bodies[i] = random(size)
			wait.Go(func() { parts[i] = putPart(t, b, key, token, bodies[i]) })
		}
		wait.Wait()
		putPart(t, b, key, token, bodies[0]) // its answer was lost
		for o, err := range b.Walk(t.Context(), "") {
			t.Fatalf("%s is visible before the end, %v", o.Key, err)
		}
		o, err := b.Complete(t.Context(), key, token, parts, dirtree.Create, "")
		if err != nil {
			t.Fatalf("complete %v: %v", sizes, err)
		}
		if now, err := b.Stat(t.Context(), key); err != nil || now != o {
			t.Errorf("complete says %+v, stat %+v, %v", o, now, err)
		}
		if got, err := b.get(t, key); err != nil || !bytes.Equal(got, bytes.Join(bodies, nil)) {
			t.Errorf("%v: read back %d bytes, %v", sizes, len(got), err)
		}
		if again, err := b.Complete(t.Context(), key, token, parts, dirtree.Create, ""); err != nil || again != o {
			t.Errorf("complete again, as if the answer was lost: %+v, %v", again, err)
		}
		if err := b.Delete(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
		if left := b.raw(t, b.Dir()); left != "" {
			t.Errorf("left behind: %q", left)
		}
	}
}

// testPartsResumed goes on where another process died: after a part, and after the joining.
func testPartsResumed(t *testing.T, authority string) {
	dead := open(t, authority, nil)
	body := random(3 << 20)
	token := begin(t, dead, "k")
	parts := []Part{putPart(t, dead, "k", token, body[:1<<20])}
	w, err := dead.newWriter(t.Context(), dead.Path("k"), dead.partsDir("k", token))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(body[1<<20 : 2<<20])
	w.drop() // in the middle of a part
	b := open(t, authority, nil)
	parts = append(parts, putPart(t, b, "k", token, body[1<<20:]))
	j, err := b.newJoint("k", token, parts)
	if err != nil {
		t.Fatal(err)
	}
	err = b.with(t.Context(), "join", "k", func(c *client) error {
		_, err := j.join(c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	third := open(t, authority, nil)
	if _, err := third.Complete(t.Context(), "k", token, parts, dirtree.Replace, ""); err != nil {
		t.Fatalf("complete after another process joined the parts: %v", err)
	}
	if got, err := third.get(t, "k"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("read back %d bytes of %d, %v", len(got), len(body), err)
	}
	if left := third.raw(t, third.Dir()); left != "k" {
		t.Errorf("left behind: %q", left)
	}
}

// testPartsRace has uploads compete for a key. One wins; the others fail and leave nothing once they are aborted.
func testPartsRace(t *testing.T, authority string) {
	b := open(t, authority, nil)
	for round := range rounds(40) {
		key := fmt.Sprintf("race/%d", round)
		var winners atomic.Int64
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				token := begin(t, b, key)
				body := sealed(byte(i), 1000)
				parts := []Part{putPart(t, b, key, token, body[:500]), putPart(t, b, key, token, body[500:])}
				_, err := b.Complete(t.Context(), key, token, parts, dirtree.Create, "id")
				switch {
				case err == nil:
					winners.Add(1)
				case !errors.Is(err, fs.ErrExist):
					t.Errorf("complete: %v, want success or ErrExist", err)
				}
				if err := b.Abort(t.Context(), key, token); err != nil {
					t.Errorf("abort: %v", err)
				}
			})
		}
		wait.Wait()
		if n := winners.Load(); n != 1 {
			t.Errorf("%d winners", n)
		}
		if got, err := b.get(t, key); err != nil || !isSealed(got) {
			t.Errorf("the object has %d bytes, %v", len(got), err)
		}
	}
	if left := b.raw(t, b.Dir()); left != "race" {
		t.Errorf("left behind: %q", left)
	}
}

// testPartsRefused shows what each misuse and each loss is called.
func testPartsRefused(t *testing.T, authority string) {
	b := open(t, authority, nil)
	token := begin(t, b, "k")
	good := putPart(t, b, "k", token, []byte("x"))
	_, changed := b.PutPart(t.Context(), "k", token, strings.NewReader("xy"), 2, 1)
	_, shrunk := b.PutPart(t.Context(), "k", token, strings.NewReader("x"), 2, 1)
	_, foreign := b.Complete(t.Context(), "k", token, []Part{good, {1, "../../k/1"}}, dirtree.Replace, "")
	_, none := b.Complete(t.Context(), "k", token, nil, dirtree.Replace, "")
	_, outside := b.PutPart(t.Context(), "k", "../x", strings.NewReader("x"), 1, 1)
	_, long := b.Begin(t.Context(), strings.Repeat("x", 256))
	if err := b.Abort(t.Context(), "k", token); err != nil {
		t.Fatal(err)
	}
	_, goneComplete := b.Complete(t.Context(), "k", token, []Part{good, good}, dirtree.Replace, "")
	_, gonePart := b.PutPart(t.Context(), "k", token, strings.NewReader("x"), 1, 1)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"a part that changed", changed, dirtree.ErrCorrupt},
		{"a part that is too short", shrunk, dirtree.ErrCorrupt},
		{"a tag that leads elsewhere", foreign, fs.ErrInvalid},
		{"no parts", none, fs.ErrInvalid},
		{"a token that leads elsewhere", outside, fs.ErrNotExist},
		{"an element too long", long, fs.ErrInvalid},
		{"complete after abort", goneComplete, fs.ErrNotExist},
		{"part after abort", gonePart, fs.ErrNotExist},
		{"abort again", b.Abort(t.Context(), "k", token), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if left := b.raw(t, b.Dir()); left != "" {
		t.Errorf("left behind: %q", left)
	}
}

// testPartsInSnapshot takes a snapshot between the parts and the joining, after which the NameNode never joins them.
func testPartsInSnapshot(t *testing.T, authority string) {
	b := open(t, authority, nil)
	token := begin(t, b, "k")
	parts := []Part{putPart(t, b, "k", token, []byte("x")), putPart(t, b, "k", token, []byte("y"))}
	err := b.with(t.Context(), "take a snapshot of", b.Dir(), func(c *client) error {
		if err := c.AllowSnapshots(b.Dir()); err != nil {
			return err
		}
		_, err := c.CreateSnapshot(b.Dir(), "s")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Complete(t.Context(), "k", token, parts, dirtree.Replace, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("complete: %v, want ErrNotExist", err)
	}
	if err := b.Abort(t.Context(), "k", token); err != nil {
		t.Errorf("abort: %v", err)
	}
}

// testUnfinished lists uploads, and sweeps those to which nothing was added for long.
func testUnfinished(t *testing.T, authority string) {
	b := open(t, authority, nil)
	for _, key := range []string{"b/x", "a", "b/ä:", "c"} {
		begin(t, b, key)
	}
	live := begin(t, b, "b/live")
	if _, err := b.Put(t.Context(), "b/done", nil); err != nil {
		t.Fatal(err)
	}
	list := func(prefix string) (keys []string) {
		for u, err := range b.Unfinished(t.Context(), prefix) {
			if err != nil || !isToken(u.Token) || time.Since(u.Begun) > 24*time.Hour {
				t.Errorf("%+v, %v", u, err)
			}
			keys = append(keys, u.Key)
		}
		return keys
	}
	if got := strings.Join(list("b/"), " "); got != "b/live b/x b/ä:" {
		t.Errorf("below b/ there are %q", got)
	}
	if got := b.names(t, ""); got != "b/" {
		t.Errorf("the listing shows %q", got)
	}
	if n, err := b.Sweep(t.Context(), 0, time.Hour); n != 0 || err != nil {
		t.Errorf("sweep of what is young: %d, %v", n, err)
	}
	long := time.Now().Add(-2 * time.Hour)
	for u, err := range b.Unfinished(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		setTime(t, b, b.Dir()+"/"+u.Token, long)
		setTime(t, b, b.partsDir(u.Key, u.Token), long)
	}
	putPart(t, b, "b/live", live, []byte("x"))
	if n, err := b.Sweep(t.Context(), 0, time.Hour); n != 4 || err != nil {
		t.Errorf("sweep: %d, %v, want 4", n, err)
	}
	if got := strings.Join(list(""), " "); got != "b/live" {
		t.Errorf("after the sweep there are %q", got)
	}
}

func setTime(t *testing.T, b *Bucket, path string, at time.Time) {
	t.Helper()
	err := b.with(t.Context(), "set the time of", path, func(c *client) error { return c.Chtimes(path, at, at) })
	if err != nil {
		t.Fatal(err)
	}
}
