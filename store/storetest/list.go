package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

func listCases() []Case {
	return []Case{
		{"list is in bytewise order", listOrder},
		{"list takes any prefix", listPrefix},
		{"list is complete over several pages", listPages},
		{"one level of a directory is listed in order", listDir},
		{"a listing can be left", listLeft},
		{"a listing during changes loses nothing that stays", listDuringChanges},
	}
}

// awkward keys sort differently with and without their slashes.
func awkward() []store.Key {
	return []store.Key{
		"a", "a-b", "a-b2/x", "a.b", "a0", "b/a", "b/a-c/x", "b/a.c/x", "b/a/x", "b/a0/x", "b-/x", "b./x", "b0/x", "bb",
		"Z", "z", "~", "é", "日", "😀",
	}
}

// withoutClashes drops keys that are a directory of another.
func withoutClashes(keys []store.Key) []store.Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k store.Key) bool {
		return slices.ContainsFunc(keys, func(other store.Key) bool { return strings.HasPrefix(string(other), string(k)+"/") })
	})
}

func listOrder(t T, s *store.Store) {
	keys := withoutClashes(awkward())
	for _, k := range slices.Backward(keys) {
		put(t, s, k, string(k))
	}
	wantKeys(t, s, "", keys...)
	for o, err := range s.List(t.Context(), "") {
		if err != nil || o.Size != int64(len(o.Key)) || o.Version == "" || o.Modified.IsZero() {
			t.Errorf("list yields %+v, %v, want %d bytes, a time and a version", o, err, len(o.Key))
		}
	}
}

// wantKeys complains unless the list below prefix is exactly keys, sorted.
func wantKeys(t T, s *store.Store, prefix string, keys ...store.Key) {
	t.Helper()
	want := slices.SortedFunc(slices.Values(keys), cmp.Compare)
	var got []store.Key
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Errorf("list %q: %v", prefix, err)
			return
		}
		got = append(got, o.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("list %q yields %d keys %.300q, want %d %.300q", prefix, len(got), got, len(want), want)
	}
}

func listPrefix(t T, s *store.Store) {
	keys := withoutClashes(awkward())
	for _, k := range keys {
		put(t, s, k, "x")
	}
	for _, prefix := range []string{"", "a", "a-", "a-b", "a-b2/", "b", "b/", "b/a", "b/a/", "b/a/x", "b/a-", "nothing", "nothing/", "é"} {
		want := slices.DeleteFunc(slices.Clone(keys), func(k store.Key) bool { return !strings.HasPrefix(string(k), prefix) })
		wantKeys(t, s, prefix, want...)
	}
}

// listPages has more objects than any backend lists in one request, in both
// forms, with a directory that straddles the end of a page.
func listPages(t T, s *store.Store) {
	const count = 1_030
	keys := make([]store.Key, count)
	for i := range keys {
		keys[i] = store.Key(fmt.Sprintf("p/%04d", i))
		if i >= 980 && i < 1010 {
			keys[i] = store.Key(fmt.Sprintf("p/%04d/o", i))
		}
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < count; i += 8 {
				if err := s.Put(t.Context(), keys[i], nil); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	before := s.Stats().Requests["list"]
	wantKeys(t, s, "", keys...)
	if n := s.Stats().Requests["list"] - before; n != 2 {
		t.Errorf("a list of %d objects takes %d requests, want 2", count, n)
	}
	i := 0
	for e, err := range s.ListDir(t.Context(), "p") {
		want, isDir := strings.CutSuffix(string(keys[min(i, count-1)]), "/o")
		if err != nil || string(e.Key) != want || e.IsDir != isDir {
			t.Fatalf("entry %d of the directory is %q (%v), %v, want %q", i, e.Key, e.IsDir, err, want)
		}
		i++
	}
	if i != count {
		t.Errorf("the directory has %d entries, want %d", i, count)
	}
}

func listDir(t T, s *store.Store) {
	for _, k := range withoutClashes(awkward()) {
		put(t, s, k, "x")
	}
	wantEntries(t, s, "", "Z a a-b a-b2/ a.b a0 b-/ b./ b/ b0/ bb z ~ é 日 😀")
	wantEntries(t, s, "b", "b/a-c/ b/a.c/ b/a/ b/a0/")
	wantEntries(t, s, "b/a", "b/a/x")
	wantEntries(t, s, "nothing", "")
	wantEntries(t, s, "bb", "")
	for _, err := range s.ListDir(t.Context(), "b/../a") {
		wantKind(t, err, store.ErrInvalid, "list a bad key")
	}
}

// wantEntries complains unless the directory has these, by blanks apart, with a
// slash behind directories.
func wantEntries(t T, s *store.Store, dir store.Key, want string) {
	t.Helper()
	var got []string
	for e, err := range s.ListDir(t.Context(), dir) {
		if err != nil {
			t.Errorf("list the directory %q: %v", dir, err)
			return
		}
		name := string(e.Key)
		if e.IsDir {
			name += "/"
		} else if e.Size != 1 || e.Version == "" {
			t.Errorf("entry %q has %d bytes and version %q, want 1 and some", e.Key, e.Size, e.Version)
		}
		got = append(got, name)
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("the directory %q has %s, want %s", dir, text, want)
	}
}

func listLeft(t T, s *store.Store) {
	for i := range 10 {
		put(t, s, store.Key(fmt.Sprint(i)), "x")
	}
	for range 3 {
		for o, err := range s.List(t.Context(), "") {
			if err != nil || o.Key != "0" {
				t.Errorf("the list begins with %q, %v", o.Key, err)
			}
			break
		}
	}
	wantBody(t, s, "5", "x")
}

func listDuringChanges(t T, s *store.Store) {
	const stay = 40
	for i := range stay {
		put(t, s, store.Key(fmt.Sprintf("d%d/stay", i)), "x")
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			key := store.Key(fmt.Sprintf("d%d/go%d", i%stay, i))
			if err := s.Put(t.Context(), key, nil); err != nil {
				t.Errorf("put: %v", err)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				t.Errorf("delete: %v", err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range Rounds(200) {
		found := 0
		for o, err := range s.List(t.Context(), "") {
			if err != nil {
				t.Errorf("list: %v", err)
			}
			if strings.HasSuffix(string(o.Key), "/stay") {
				found++
			}
		}
		if found != stay {
			t.Errorf("a listing during changes shows %d of %d that stay", found, stay)
		}
	}
	close(done)
	wg.Wait()
}
