package storetest

import (
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

func keyCases() []Case {
	return []Case{
		{"odd keys are kept apart and as they are", oddKeys},
		{"keys may be as long as promised", longKeys},
		{"bad keys are refused by every verb", badKeys},
		{"a sub-store is the same objects under shorter keys", subStores},
	}
}

func oddKeys(t T, s *store.Store) {
	keys := []store.Key{
		"space in it", " leading", "trailing ", "a+b", "a%41", "a%2Fb", "a#b", "a?b=c&d", `quote'"quote`, "a:b", "a;b,c", "a=b@c!",
		"(round)[square]{curly}", "~tilde", "$dollar", "^hat", "a|b", "<tag>", "*star", "back`tick",
		".hidden", "..two", "...", "end.", "a..b", "Case", "case", "ünïcode", "日本語", "emoji-😀", "עברית",
		"nfc-\u00e9", "nfd-e\u0301", "COM1", "a/b/c/d/e/f/g/h/i/j", "a.attrs", "x.tmp", "-dash", "_under",
	}
	for _, k := range keys {
		put(t, s, k, "body of "+string(k))
	}
	for _, k := range keys {
		wantBody(t, s, k, "body of "+string(k))
	}
	wantKeys(t, s, "", keys...)
	for _, k := range keys {
		must(t, s.Delete(t.Context(), k), "delete %q", k)
	}
	wantKeys(t, s, "")
}

func longKeys(t T, s *store.Store) {
	element := strings.Repeat("e", 255)
	long := "long/" + strings.Repeat(element+"/", 4)
	n := longest(t, s, long)
	for _, k := range []string{element, "dir/" + strings.Repeat("é", 127), long[:n]} {
		key, err := store.ParseKey(k)
		must(t, err, "parse a key of %d bytes", len(k))
		must(t, s.Create(t.Context(), key, []byte("x")), "create under a key of %d bytes", len(k))
		wantBody(t, s, key, "x")
		wantKeys(t, s, k, key)
	}
}

// longest is how many bytes of text are taken as a key: 1,024 together with what
// the store puts before its keys, less a slash at the end.
func longest(t T, s *store.Store, text string) int {
	t.Helper()
	for n := len(text) - 1; n > 512; n-- {
		if text[n-1] == '/' {
			continue
		}
		_, err := s.Stat(t.Context(), store.Key(text[:n]))
		if errors.Is(err, store.ErrNotExist) {
			return n
		}
		wantKind(t, err, store.ErrInvalid, "stat of a key of %d bytes", n)
	}
	t.Fatalf("no key of more than 512 bytes is taken")
	return 0
}

func badKeys(t T, s *store.Store) {
	ctx := t.Context()
	for _, k := range []store.Key{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "./a", "a/..",
		"nul\x00", "line\nbreak", "tab\t", "del\x7f", "c1\u0085", "utf8\xff", "\ufffe",
		store.Key(strings.Repeat("e", 256)), store.Key(strings.Repeat("a/", 512) + "a"),
	} {
		if _, err := store.ParseKey(string(k)); err == nil {
			t.Errorf("parse %q: no error", k)
		}
		for verb, err := range map[string]error{
			"get": second(s.Get(ctx, k)), "open": second(s.Open(ctx, k)), "stat": second(s.Stat(ctx, k)),
			"put": s.Put(ctx, k, nil), "create": s.Create(ctx, k, nil), "delete": s.Delete(ctx, k),
			"stream": second(s.PutFrom(ctx, k, strings.NewReader(""), 0)),
			"append": s.AddLines(ctx, k, []string{"x"}, nil),
		} {
			wantKind(t, err, store.ErrInvalid, "%s %q", verb, k)
		}
	}
	wantKeys(t, s, "")
}

func subStores(t T, s *store.Store) {
	ctx := t.Context()
	sub := s.Sub("a").Sub("b/c")
	put(t, sub, "d/o", "x")
	put(t, s, "a/b/cc", "not below")
	wantBody(t, s, "a/b/c/d/o", "x")
	wantKeys(t, sub, "", "d/o")
	wantKeys(t, sub, "d", "d/o")
	for e, err := range sub.ListDir(ctx, "") {
		if err != nil || e.Key != "d" || !e.IsDir {
			t.Errorf("the sub-store lists %+v, %v, want the directory d", e, err)
		}
	}
	if got, want := sub.KeyURL("d/o"), s.KeyURL("a/b/c/d/o"); got != want {
		t.Errorf("the URL in the sub-store is %q, want %q", got, want)
	}
	if path, ok := sub.LocalPath("d/o"); ok != (s.Scheme() == "file") || ok && !strings.HasSuffix(path, "c/d/o") {
		t.Errorf("the local path is %q, %v", path, ok)
	}
	wantKind(t, s.Sub("a/../b").Put(ctx, "o", nil), store.ErrInvalid, "put in a sub-store of a bad prefix")
}
