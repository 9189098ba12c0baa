package checkpoint_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

func open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put stores a tree in its order, but for one file, which it cuts to n bytes, or leaves out if n < 0.
func put(t testing.TB, s *store.Store, tr *tree, but string, n int) {
	t.Helper()
	for _, name := range tr.order {
		body := tr.files[name]
		if name == but {
			if n < 0 {
				continue
			}
			body = body[:n]
		}
		check(t, s.Put(t.Context(), store.Key(name), body))
	}
}

func find(t testing.TB, s *store.Store, prefix store.Key) []*checkpoint.Checkpoint {
	t.Helper()
	list, err := checkpoint.Find(t.Context(), s, prefix, nil)
	check(t, err)
	return list
}

func complete(list []*checkpoint.Checkpoint) []*checkpoint.Checkpoint {
	return slices.DeleteFunc(slices.Clone(list), func(c *checkpoint.Checkpoint) bool { return !c.Complete() })
}

func TestWhole(t *testing.T) {
	for _, tr := range trees(t) {
		for _, url := range []string{"mem://", t.TempDir()} {
			s := open(t, url)
			put(t, s, tr, "", 0)
			list := find(t, s, "")
			if len(list) != 1 {
				t.Errorf("%s: got %d checkpoints, want 1", tr.name, len(list))
				continue
			}
			c := list[0]
			if !c.Complete() || string(c.Path) != tr.path || c.Format != tr.format || c.Step != tr.step || c.Size == 0 {
				t.Errorf("%s in %s: got %s, %s, step %d, %d bytes, %q", tr.name, s.Scheme(), c.Path, c.Format, c.Step, c.Size, c.Reason)
			}
		}
	}
}

// No checkpoint is listed without one of its files, or with one that was cut.
func TestNotWhole(t *testing.T) {
	for _, tr := range trees(t) {
		for _, file := range tr.order {
			size := len(tr.files[file])
			cuts := []int{-1, 0, 1, size / 2, size - 1}
			if slices.Contains(tr.opaque, file) {
				cuts = cuts[:1]
			}
			if slices.Contains(tr.free, file) {
				continue
			}
			for _, n := range cuts {
				s := open(t, "mem://")
				put(t, s, tr, file, n)
				for _, c := range complete(find(t, s, "")) {
					if c.Format == tr.format {
						t.Errorf("%s: listed with %s cut to %d of %d bytes (-1 is removed)", tr.name, file, n, size)
					}
				}
			}
		}
	}
}

// What a directory holds below a prefix is the same wherever the prefix lies, and a single file can be asked for.
func TestPrefix(t *testing.T) {
	s := open(t, "mem://")
	for _, tr := range trees(t) {
		put(t, s.Sub("a/b"), tr, "", 0)
	}
	if list := find(t, s, "a/b/checkpoints"); len(complete(list)) != len(list) || len(list) != 8 {
		t.Errorf("got %d of %d", len(complete(list)), len(list))
	}
	list := find(t, s, "a/b/checkpoints/model-12.pt")
	if len(list) != 1 || !list[0].Complete() || !list[0].IsFile() || list[0].Step != 12 {
		t.Errorf("got %v", list)
	}
	if list := find(t, s, "a/b/nothing"); len(list) != 0 {
		t.Errorf("got %v", list)
	}
}

// A result of training is no checkpoint, unless asked for.
func TestAnywhere(t *testing.T) {
	s := open(t, "mem://")
	for _, name := range []string{"model.safetensors", "out/best.safetensors"} {
		check(t, s.Put(t.Context(), store.Key(name), safetensors("w")))
	}
	if list := find(t, s, ""); len(list) != 0 {
		t.Errorf("got %s", list[0].Path)
	}
	list, err := checkpoint.Find(t.Context(), s, "", &checkpoint.Options{Anywhere: true})
	check(t, err)
	if len(complete(list)) != 2 {
		t.Errorf("got %d", len(list))
	}
}

// Steps are numbers: 10 comes after 9.
func TestOrder(t *testing.T) {
	s := open(t, "mem://")
	var want []string
	for _, name := range []string{"ckpt-9.pt", "ckpt-10.pt", "ckpt-100.pt"} {
		check(t, s.Put(t.Context(), store.Key("checkpoints/"+name), torchFile(t, nil)))
		want = append(want, "checkpoints/"+name)
	}
	var got []string
	list := find(t, s, "")
	for _, c := range list {
		got = append(got, string(c.Path))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if latest := checkpoint.Latest(list); latest.Step != 100 {
		t.Errorf("the latest is %s", latest.Path)
	}
}

// A file whose format does not tell is believed once it was left alone for a while.
func TestUnknownStructure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoints", "state-1.msgpack")
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte("bytes"), 0o644))
	s := open(t, dir)
	if list := find(t, s, ""); len(list) != 1 || list[0].Complete() {
		t.Errorf("a file that was just written: got %v", list)
	}
	info, err := os.Stat(path)
	check(t, err)
	check(t, os.Chtimes(path, info.ModTime(), info.ModTime().Add(-2*60e9)))
	if list := find(t, s, ""); len(list) != 1 || !list[0].Complete() {
		t.Errorf("an old file: got %v", list)
	}
}
