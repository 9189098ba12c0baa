package alias_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newSet(t *testing.T) (*alias.Set, *store.Store) {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return alias.NewSet(s, func() time.Time { return now }), s
}

func set(t *testing.T, aliases *alias.Set, name, node string) alias.Alias {
	t.Helper()
	run, artifact, _ := strings.Cut(node, "#")
	a, err := aliases.Set(t.Context(), name, alias.Change{Run: tracker.RunID(run), Artifact: artifact, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSetMovesAnAlias(t *testing.T) {
	aliases, s := newSet(t)
	set(t, aliases, "prod", "local://torchx/a")
	set(t, aliases, "prod", "local://torchx/b#model")
	again := set(t, aliases, "prod", "local://torchx/b#model")
	want := alias.Alias{Name: "prod", Node: "local://torchx/b#model", Artifact: "model", Number: 2, Time: now, User: "ann"}
	got, err := aliases.Get(t.Context(), "prod")
	if err != nil || got != want || again != want {
		t.Errorf("alias is %+v (set again %+v), error %v, want %+v", got, again, err, want)
	}
	if run := got.Run(); run != "local://torchx/b" {
		t.Errorf("run %s", run)
	}
	body, err := s.Get(t.Context(), "heirloom/aliases/prod/00000000000000000002")
	if golden := `{"node":"local://torchx/b#model","artifact":"model","time":"2026-11-20T12:00:00Z","user":"ann"}` + "\n"; err != nil || string(body) != golden {
		t.Errorf("record %s, error %v, want %s", body, err, golden)
	}
}

func TestIfCurrent(t *testing.T) {
	aliases, _ := newSet(t)
	nothing, a, b := "", "a", "b"
	if _, err := aliases.Set(t.Context(), "best", alias.Change{Run: "a", IfCurrent: &nothing}); err != nil {
		t.Fatal(err)
	}
	if _, err := aliases.Set(t.Context(), "best", alias.Change{Run: "c", IfCurrent: &b}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v, want ErrConflict", err)
	}
	if _, err := aliases.Set(t.Context(), "best", alias.Change{Run: "c", IfCurrent: &a}); err != nil {
		t.Error(err)
	}
}

// TestIfCurrentHasOneWinner lets many move one alias from the same meaning.
func TestIfCurrentHasOneWinner(t *testing.T) {
	aliases, _ := newSet(t)
	from := set(t, aliases, "best", "start").Node
	for round := range 20 {
		var wg sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = aliases.Set(t.Context(), "best", alias.Change{Run: tracker.RunID(fmt.Sprintf("r%d-%d", round, i)), IfCurrent: &from})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, store.ErrConflict) {
				t.Fatal(err)
			}
		}
		now, err := aliases.Get(t.Context(), "best")
		if won != 1 || err != nil {
			t.Fatalf("%d won, error %v, want 1", won, err)
		}
		from = now.Node
	}
}

func TestRemoveKeepsHistory(t *testing.T) {
	aliases, _ := newSet(t)
	set(t, aliases, "prod", "a")
	set(t, aliases, "best", "b")
	if _, err := aliases.Set(t.Context(), "prod", alias.Change{Reason: "withdrawn"}); err != nil {
		t.Fatal(err)
	}
	if _, err := aliases.Get(t.Context(), "prod"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("removed alias: error %v, want ErrNotExist", err)
	}
	if _, err := aliases.Set(t.Context(), "prod", alias.Change{}); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("removed twice: error %v, want ErrNotExist", err)
	}
	list, err := aliases.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "best" {
		t.Errorf("list %v, error %v, want best alone", list, err)
	}
	set(t, aliases, "prod", "c")
	history, err := aliases.History(t.Context(), "prod")
	var nodes []string
	for _, a := range history {
		nodes = append(nodes, a.Node)
	}
	if err != nil || !slices.Equal(nodes, []string{"c", "", "a"}) {
		t.Errorf("history %q, error %v, want c, removed, a", nodes, err)
	}
}

func TestNames(t *testing.T) {
	aliases, _ := newSet(t)
	for _, name := range []string{"", ".x", "-x", "a/b", "..", "a b", "é", "a\nb", "@x", string(make([]byte, 101))} {
		if _, err := aliases.Set(t.Context(), name, alias.Change{Run: "a"}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: error %v, want ErrInvalid", name, err)
		}
	}
	if _, err := aliases.Get(t.Context(), "never"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("unknown alias: error %v, want ErrNotExist", err)
	}
	if _, err := aliases.History(t.Context(), "never"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("history of an unknown alias: error %v, want ErrNotExist", err)
	}
}

// TestRequests holds each call to the requests that docs/costs.md promises.
func TestRequests(t *testing.T) {
	aliases, s := newSet(t)
	set(t, aliases, "prod", "a")
	set(t, aliases, "best", "b")
	for name, tt := range map[string]struct {
		do   func() error
		want int64
	}{
		"get":  {func() error { _, err := aliases.Get(t.Context(), "prod"); return err }, 2},
		"list": {func() error { _, err := aliases.List(t.Context()); return err }, 3},
		"set":  {func() error { _, err := aliases.Set(t.Context(), "prod", alias.Change{Run: "z"}); return err }, 3},
	} {
		before := s.Stats().Total()
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if got := s.Stats().Total() - before; got != tt.want {
			t.Errorf("%s: %d requests, want %d", name, got, tt.want)
		}
	}
}
