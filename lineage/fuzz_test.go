package lineage_test

import (
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
)

// FuzzResolve checks that whatever is typed either names a node, of which a closure can be asked, or is an error of one
// of the documented kinds.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"train", "odd#run#m", "clicks@2026-11-20#p", "s3a://bucket/clicks/", "/data/../data/digits.csv", "#", "@", "x7f2#", "file:///%", "dbfs:/a", "\x00", "é#\xff"} {
		f.Add(seed)
	}
	g := library()
	f.Fuzz(func(t *testing.T, text string) {
		id, err := g.Resolve(text)
		if err != nil {
			if !errors.Is(err, store.ErrNotExist) && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrInvalid) {
				t.Errorf("Resolve(%q): %v has no kind", text, err)
			}
			return
		}
		sub, err := g.Closure(id, lineage.Query{})
		if err != nil || sub.Root != id {
			t.Errorf("Resolve(%q) = %q, of which there is no closure: %v", text, id, err)
		}
		if again, err := g.Resolve(id); err != nil || again != id {
			t.Errorf("%q resolves to %q, and that to %q, %v", text, id, again, err)
		}
	})
}
