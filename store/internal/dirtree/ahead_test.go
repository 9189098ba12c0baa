package dirtree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// broad has many directories side by side, some of them with many below, among objects, in no order.
func broad(fail string) ReadFunc {
	return func(_ context.Context, dir string) ([]Name, error) {
		if dir == fail {
			return nil, errors.New("cannot be read")
		}
		var names []Name
		count := 200
		switch strings.Count(dir, "/") {
		case 1:
			count = len(dir) % 5 * 60
		case 2:
			return nil, nil
		}
		for i := range count {
			n := i * 7919 % count
			names = append(names, Name{Elem: fmt.Sprint("d", n), IsDir: n%3 > 0}, Name{Elem: fmt.Sprint("d", n, "-"), Object: Object{Size: int64(n)}})
		}
		return names, nil
	}
}

// TestWalkAhead yields what Walk does, in its order, however many read.
func TestWalkAhead(t *testing.T) {
	for _, prefix := range []string{"", "d1", "d10/", "d10/d5", "none/"} {
		var want, got []Object
		for o, err := range broad("-").Walk(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, o)
		}
		for o, err := range broad("-").WalkAhead(t.Context(), prefix, "", 8) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, o)
		}
		if !slices.Equal(got, want) || len(want) == 0 && prefix == "" {
			t.Errorf("below %q: %d objects, want %d", prefix, len(got), len(want))
		}
	}
}

// TestWalkAheadEnds breaks the listing off, at any object, by an error and by its context: what came until then is
// where Walk has it, and an end that is none is told.
func TestWalkAheadEnds(t *testing.T) {
	var all []Object
	for o, err := range broad("-").Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	for _, most := range []int{1, 2, 700, len(all) - 1} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var failed error
		for o, err := range broad("-").WalkAhead(ctx, "", "", 4) {
			if failed = err; err != nil {
				break
			}
			if o != all[n] {
				t.Fatalf("object %d is %v, want %v", n, o, all[n])
			}
			if n++; n == most {
				cancel()
			}
		}
		if failed == nil && n < len(all) {
			t.Errorf("cancelled after %d objects: the listing ends after %d as if it were whole", most, n)
		}
		cancel()
		for range broad("-").WalkAhead(t.Context(), "", "", 4) {
			if most--; most == 0 {
				break
			}
		}
	}
	n, fails := 0, 0
	for o, err := range broad("d16/").WalkAhead(t.Context(), "", "", 4) {
		switch {
		case err != nil:
			fails++
		case fails > 0 || o != all[n]:
			t.Fatalf("object %d is %v, want %v", n, o, all[n])
		default:
			n++
		}
	}
	if fails != 1 || n >= len(all) || !strings.HasPrefix(all[n].Key, "d16/") {
		t.Errorf("%d errors, after %d objects", fails, n)
	}
}
