package dbfsblob

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestReadWhileReplaced replaces an object of several blocks between two requests of its reader, by one of the same size
// and by others: what is read to the end is of one version, or there is an error.
func TestReadWhileReplaced(t *testing.T) {
	for name, replacement := range map[string]string{
		"the same size": strings.Repeat("b", 3*testBlock), "shorter": strings.Repeat("b", testBlock+1), "longer": strings.Repeat("b", 4*testBlock), "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
				old := strings.Repeat("a", 3*testBlock)
				if err := b.Put(t.Context(), "k", []byte(old)); err != nil {
					t.Fatal(err)
				}
				for _, offset := range []int64{0, testBlock, 2*testBlock + 7} {
					r, err := b.Open(t.Context(), "k", offset, -1, "")
					if err != nil {
						t.Fatal(err)
					}
					head := make([]byte, 10)
					if _, err := io.ReadFull(r, head); err != nil {
						t.Fatal(err)
					}
					if err := b.Put(t.Context(), "k", []byte(replacement)); err != nil {
						t.Fatal(err)
					}
					rest, err := io.ReadAll(r)
					if whole := string(head) + string(rest); err == nil && whole != old[offset:] {
						t.Errorf("from %d: %d bytes are read as whole, of them %d new", offset, len(whole), strings.Count(whole, "b"))
					}
					if err != nil && !errors.Is(err, dirtree.ErrConflict) {
						t.Errorf("from %d: %v, want ErrConflict", offset, err)
					}
					r.Close()
					if err := b.Put(t.Context(), "k", []byte(old)); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestRangesOfOneVersion reads ranges at once from a reader each.
func TestRangesOfOneVersion(t *testing.T) {
	eachAPI(t, func(t *testing.T, _ *servers.Databricks, b *Bucket) {
		body := bytes.Repeat([]byte("0123456789abcde\n"), testBlock/4)
		if _, err := b.PutStream(t.Context(), "k", bytes.NewReader(body), dirtree.Create); err != nil {
			t.Fatal(err)
		}
		o, err := b.Stat(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range int64(8) {
			group.Go(func() {
				offset, length := i*testBlock/2+i, int64(testBlock/2+3)
				r, err := b.Open(t.Context(), "k", offset, length, o.Version)
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Close()
				got, err := io.ReadAll(r)
				if want := body[offset:min(offset+length, int64(len(body)))]; err != nil || !bytes.Equal(got, want) {
					t.Errorf("from %d: %d bytes, %v, want %d", offset, len(got), err, len(want))
				}
			})
		}
		group.Wait()
		if _, err := b.Open(t.Context(), "k", 0, -1, "another"); !errors.Is(err, dirtree.ErrConflict) {
			t.Errorf("another version: %v", err)
		}
		if _, err := b.Open(t.Context(), "k", int64(len(body))+1, -1, ""); !errors.Is(err, dirtree.ErrRange) {
			t.Errorf("behind the end: %v", err)
		}
	})
}

// TestBrokenReads breaks the connection, or has the workspace refuse, at each request of a read.
func TestBrokenReads(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		body := strings.Repeat("x", 2*testBlock)
		if err := b.Put(t.Context(), "k", []byte(body)); err != nil {
			t.Fatal(err)
		}
		for _, fault := range []servers.Fault{{}, {Status: 500}, {Status: 429}} {
			for n := int64(1); n < 5; n++ {
				server.Inject(nth(n, anyRequest, fault))
				got, err := b.read(t.Context(), "k")
				if err == nil && got != body || err != nil && !errors.Is(err, dirtree.ErrUnavailable) {
					t.Errorf("request %d: %d bytes, %v", n, len(got), err)
				}
			}
		}
	})
}

// TestParentsOfAVolume uploads where the workspace does not make directories.
func TestParentsOfAVolume(t *testing.T) {
	server := servers.DBFS(t)
	server.WantParents()
	b := open(t, server, roots["volume"])
	if err := b.Create(t.Context(), "a/b/c", []byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := b.PutStream(t.Context(), "d/e/f", strings.NewReader("y"), dirtree.Create); err != nil {
		t.Error(err)
	}
	wantFiles(t, server, b, "a/b/c", "d/e/f")
	missing := open(t, server, "/Volumes/main/default/other")
	if err := missing.Put(t.Context(), "k", nil); err == nil || !strings.Contains(err.Error(), "no volume at") {
		t.Errorf("a volume that does not exist: %v", err)
	}
}

// TestIgnoredRange reads from a workspace that answers a range with the whole file.
func TestIgnoredRange(t *testing.T) {
	server := servers.DBFS(t)
	b := open(t, server, roots["volume"])
	if err := b.Put(t.Context(), "k", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	server.Inject(func(r *http.Request) *servers.Fault {
		r.Header.Del("Range")
		return nil
	})
	r, err := b.Open(t.Context(), "k", 3, 4, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "3456" || r.Object().Size != 10 {
		t.Errorf("%q of %d bytes, %v", got, r.Object().Size, err)
	}
	if _, err := b.Open(t.Context(), "k", 11, -1, ""); !errors.Is(err, dirtree.ErrRange) {
		t.Errorf("behind the end: %v", err)
	}
}
