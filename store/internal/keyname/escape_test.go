package keyname

import (
	"strings"
	"testing"
)

// strict has what any backend has: reserved names, bytes that are never safe, and some that are not at the end.
func strict() Escape {
	return Escape{
		Reserved: func(elem string) bool { return elem == ".snapshot" || strings.HasPrefix(elem, ".tmp-") },
		Unsafe:   func(elem string, i int) bool { return elem[i] == ':' || i == len(elem)-1 && elem[i] == '.' },
	}
}

// lax refuses nothing of its own.
func lax() Escape {
	return Escape{
		Reserved: func(string) bool { return false },
		Unsafe:   func(string, int) bool { return false },
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ key, lax, strict string }{
		{"runs/a b/é", "runs/a b/é", "runs/a b/é"},
		{"", "__0x__", "__0x__"},
		{"a//b", "a/__0x__/b", "a/__0x__/b"},
		{"./..", "__0x2e__/__0x2e__.", "__0x2e__/__0x2e____0x2e__"},
		{"\n\x7f", "__0x0a____0x7f__", "__0x0a____0x7f__"},
		{"a:b", "a:b", "a__0x3a__b"},
		{"x.", "x.", "x__0x2e__"},
		{".snapshot/.tmp-1", ".snapshot/.tmp-1", "__0x2e__snapshot/__0x2e__tmp-1"},
		{"__0x/__0xzz__/__0x41__", "__0x/__0xzz__/__0x41__", "__0x/__0xzz__/__0x41__"},
		{"__0x0a__", "__0x5f___0x0a__", "__0x5f___0x0a__"},
		{"__0x3a__", "__0x3a__", "__0x5f___0x3a__"},
		{"__0x__", "__0x5f___0x__", "__0x5f___0x__"},
	} {
		if got := lax().Path(c.key); got != c.lax {
			t.Errorf("lax path of %q is %q, want %q", c.key, got, c.lax)
		}
		if got := strict().Path(c.key); got != c.strict {
			t.Errorf("strict path of %q is %q, want %q", c.key, got, c.strict)
		}
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"a/b", "__0x2f__", "//..//", "__0x5f____0x41__", "__0x__", "_\x01", ".tmp-x", ".snapshot", "a:.", "__0x3a__"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range []Escape{lax(), strict()} {
			p := e.Path(s)
			if back := e.Key(p); back != s {
				t.Errorf("key %q has path %q, which has key %q", s, p, back)
			}
			if !e.holds(p) {
				t.Errorf("key %q has path %q, which cannot be", s, p)
			}
			// Read as a path some other program made, where it can be one.
			if back := e.Path(e.Key(s)); e.holds(s) && back != s {
				t.Errorf("path %q has key %q, which has path %q", s, e.Key(s), back)
			}
		}
	})
}

// holds says whether every element of path can be a name.
func (e Escape) holds(path string) bool {
	for elem := range strings.SplitSeq(path, "/") {
		if !e.isPlain(elem) {
			return false
		}
	}
	return true
}
