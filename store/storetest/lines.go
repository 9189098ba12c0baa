package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

func lineCases() []Case {
	return []Case{
		{"lines are added once, and those there are kept", addsLines},
		{"many adding lines at once lose none", linesRace},
	}
}

func addsLines(t T, s *store.Store) {
	ctx := t.Context()
	for _, c := range []struct {
		name, before string
		add          []string
		want         string
	}{
		{"to nothing", "-", []string{"b", "a"}, "b\na\n"},
		{"an empty one to nothing", "-", []string{""}, "\n"},
		{"none to nothing", "-", nil, "-"},
		{"to an empty object", "", []string{"a", ""}, "a\n\n"},
		{"what is there", "a\nb\n", []string{"b", "a"}, "a\nb\n"},
		{"some new", "x\na\n", []string{"b", "a", "c"}, "x\na\nb\nc\n"},
		{"twice the same", "-", []string{"a", "a"}, "a\n"},
		{"behind a torn line", "a\nto", []string{"b"}, "a\nto\nb\n"},
		{"an empty one", "a\n", []string{""}, "a\n\n"},
	} {
		key := store.Key("dir/" + c.name)
		if c.before != "-" {
			put(t, s, key, c.before)
		}
		for range 2 {
			must(t, s.AddLines(ctx, key, c.add, nil), "add lines %s", c.name)
		}
		if c.want == "-" {
			wantAbsent(t, s, key)
		} else {
			wantBody(t, s, key, c.want)
		}
	}
	wantKind(t, s.AddLines(ctx, "dir/bad", []string{"a\nb"}, nil), store.ErrInvalid, "add a line with a break")
	broken := errors.New("no lines")
	err := s.AddLines(ctx, "dir/bad", []string{"a"}, func(context.Context) ([]string, error) { return nil, broken })
	if !s.Capabilities().Append {
		wantKind(t, err, broken, "add lines when those of others cannot be told")
		wantAbsent(t, s, "dir/bad")
	}
}

// linesRace has writers that record each line elsewhere first, as AddLines asks
// for where a backend has neither lock nor condition.
func linesRace(t T, s *store.Store) {
	const writers = 16
	each := Rounds(60)
	var mu sync.Mutex
	recorded := []string{}
	others := func(context.Context) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(recorded), nil
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				lines := []string{fmt.Sprintf("%d-%d", w, i), "all"}
				mu.Lock()
				recorded = append(recorded, lines...)
				mu.Unlock()
				if err := s.AddLines(t.Context(), "lines", lines, others); err != nil {
					t.Errorf("add lines: %v", err)
				}
			}
		})
	}
	wg.Wait()
	body, err := s.Get(t.Context(), "lines")
	must(t, err, "get")
	got := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if len(got) != writers*each+1 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		t.Errorf("%d lines are there, want %d, each once", len(got), writers*each+1)
	}
}
