package storetest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

func streamCases() []Case {
	return []Case{
		{"a stream of the announced length is stored", streams},
		{"a stream of another length, or that fails, leaves nothing", brokenStreams},
		{"what is still being written is not seen", inProgress},
		{"of several creating one long object at once exactly one wins", longCreate},
		{"a tree goes up and comes down the same", trees},
	}
}

// streamSizes reach from nothing over one part to several, with a short last one.
func streamSizes() []int { return []int{0, 1, 1 << 20, 1<<20 + 1, 8 << 20, 17<<20 + 3} }

func streams(t T, s *store.Store) {
	for _, size := range streamSizes() {
		body := pattern(size)
		for _, announced := range []int64{int64(size), -1} {
			obj, err := s.PutFrom(t.Context(), "dir/o", strings.NewReader(body), announced)
			if err != nil || obj.Size != int64(size) || obj.Key != "dir/o" {
				t.Errorf("%d bytes, announced %d: %+v, %v", size, announced, obj, err)
			}
			wantBody(t, s, "dir/o", body)
		}
	}
}

func brokenStreams(t T, s *store.Store) {
	put(t, s, "old", "old bytes")
	broken := errors.New("the source broke")
	for _, size := range streamSizes() {
		body := pattern(size)
		for _, c := range []struct {
			name      string
			source    io.Reader
			announced int64
			want      error
		}{
			{"short", strings.NewReader(body), int64(size) + 1, store.ErrInvalid},
			{"long", strings.NewReader(body + "x"), int64(size), store.ErrInvalid},
			{"failing", io.MultiReader(strings.NewReader(body), failing{broken}), int64(size) + 1, broken},
			{"failing, of any length", io.MultiReader(strings.NewReader(body), failing{broken}), -1, broken},
		} {
			key := store.Key("new")
			_, err := s.PutFrom(t.Context(), key, c.source, c.announced)
			wantKind(t, err, c.want, "a %s source of %d bytes", c.name, size)
			wantAbsent(t, s, key)
		}
		_, err := s.PutFrom(t.Context(), "old", strings.NewReader(body), int64(size)+1)
		wantKind(t, err, store.ErrInvalid, "a short source over an object")
		wantBody(t, s, "old", "old bytes")
	}
}

// failing is a source that yields nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// inProgress looks at the store from within the source of a write.
func inProgress(t T, s *store.Store) {
	put(t, s, "old", "old bytes")
	body := pattern(9 << 20)
	for _, key := range []store.Key{"new/o", "old"} {
		looked := false
		look := func() {
			looked = true
			if key == "old" {
				wantBody(t, s, key, "old bytes")
			} else {
				wantAbsent(t, s, key)
			}
			for o, err := range s.List(t.Context(), "") {
				if err != nil || o.Key != "old" {
					t.Errorf("during a write the list holds %q, %v", o.Key, err)
				}
			}
		}
		if key == "old" {
			must(t, s.Delete(t.Context(), "new/o"), "delete")
		}
		source := io.MultiReader(strings.NewReader(body[:9<<20-1]), &peek{look: look}, strings.NewReader(body[9<<20-1:]))
		_, err := s.PutFrom(t.Context(), key, source, int64(len(body)))
		must(t, err, "put %s", key)
		if !looked {
			t.Errorf("the source was not read to its end")
		}
		wantBody(t, s, key, body)
	}
}

// peek is an empty source that calls look when it is reached.
type peek struct{ look func() }

func (p *peek) Read([]byte) (int, error) {
	if p.look != nil {
		p.look()
		p.look = nil
	}
	return 0, io.EOF
}

// longCreate sends files that are too long for one request, on condition that
// there is nothing.
func longCreate(t T, s *store.Store) {
	const racers, size = 3, 9 << 20
	dir, err := os.MkdirTemp("", "heirloom-create-")
	must(t, err, "make a directory")
	defer os.RemoveAll(dir)
	body := pattern(size + racers)
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		path := filepath.Join(dir, strconv.Itoa(i))
		must(t, os.WriteFile(path, []byte(body[i:i+size]), 0o600), "write a file")
		wg.Go(func() {
			_, errs[i] = s.Upload(t.Context(), path, "long", &store.TransferOptions{Create: true})
		})
	}
	wg.Wait()
	winner := slices.Index(errs, nil)
	for i, err := range errs {
		if i != winner {
			wantKind(t, err, store.ErrExist, "create a long object that another creates")
		}
	}
	if winner < 0 {
		t.Fatalf("nobody created the object: %v", errs)
	}
	wantBody(t, s, "long", body[winner:winner+size])
	_, err = s.Upload(t.Context(), filepath.Join(dir, "0"), "long", &store.TransferOptions{Create: true})
	wantKind(t, err, store.ErrExist, "create a long object that is there")
	wantBody(t, s, "long", body[winner:winner+size])
}

func trees(t T, s *store.Store) {
	dir, err := os.MkdirTemp("", "heirloom-tree-")
	must(t, err, "make a directory")
	defer os.RemoveAll(dir)
	up, down := filepath.Join(dir, "up"), filepath.Join(dir, "down")
	files := map[string]string{"a": "", "b/c.txt": "text", "b/d e/ü": pattern(3000), "big": pattern(2<<20 + 1)}
	for name, body := range files {
		path := filepath.Join(up, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755), "make a directory")
		must(t, os.WriteFile(path, []byte(body), 0o644), "write a file")
	}
	sent, err := s.UploadTree(t.Context(), up, "tree/x", nil)
	must(t, err, "upload")
	wantTree(t, sent, "a", "b/c.txt", "b/d e/ü", "big")
	put(t, s, "tree/xy", "not in the tree")
	got, err := s.DownloadTree(t.Context(), "tree/x", down, nil)
	must(t, err, "download")
	wantTree(t, got, "a", "b/c.txt", "b/d e/ü", "big")
	for name, body := range files {
		found, err := os.ReadFile(filepath.Join(down, filepath.FromSlash(name)))
		if err != nil || string(found) != body {
			t.Errorf("%s came down with %d bytes, %v, want %d", name, len(found), err, len(body))
		}
	}
}

func wantTree(t T, got []store.Object, names ...string) {
	t.Helper()
	if len(got) != len(names) {
		t.Errorf("the tree has %d objects, want %d: %v", len(got), len(names), got)
		return
	}
	for i, o := range got {
		if o.Key != store.Key("tree/x").Join(names[i]) {
			t.Errorf("object %d of the tree is %q, want %q", i, o.Key, names[i])
		}
	}
}
