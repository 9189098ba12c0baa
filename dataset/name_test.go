package dataset_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]dataset.Ref{
		"clicks@2026-11-20": {Name: "clicks", Version: "2026-11-20"},
		"clicks@latest":     {Name: "clicks", Version: "latest"},
		"a.b_c-d":           {Name: "a.b_c-d"},
	} {
		if got, err := dataset.ParseRef(text); got != want || err != nil || got.String() != text {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "@", "a@", "@1", "a/b@1", "a@b@c", "..", "a@..", "a b", "-x", "a@\x1b", "ü@1", strings.Repeat("x", 101)} {
		if got, err := dataset.ParseRef(text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

func TestVersionsAreOrderedAsPeopleDo(t *testing.T) {
	want := []string{"1", "2", "010", "10", "2025-12-31", "2026-2-1", "2026-11-20", "a", "v1.9", "v1.10", "v1.10-rc", "v2"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, dataset.CompareVersions)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v, want %v", got, want)
	}
}

func TestNames(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		first := stage(t, s, spec()).Commit.Fingerprint
		other := spec()
		other.Seed = 2
		second := stage(t, s, other).Commit.Fingerprint

		set := func(text string, fingerprint store.Digest) (string, error) {
			t.Helper()
			ref, err := dataset.ParseRef(text)
			if err != nil {
				t.Fatal(err)
			}
			ref, err = dataset.SetLabel(t.Context(), s, ref, fingerprint)
			return ref.String(), err
		}
		for _, step := range []struct {
			text        string
			fingerprint store.Digest
			want        string
			kind        error
		}{
			{"clicks@9", first, "clicks@9", nil},
			{"clicks@9", first, "clicks@9", nil}, // once more changes nothing
			{"clicks@9", second, "", store.ErrExist},
			{"clicks@latest", first, "", store.ErrInvalid},
			{"clicks", first, "clicks@9", nil}, // which it has already
			{"clicks", second, "clicks@10", nil},
			{"views", second, "views@1", nil},
		} {
			got, err := set(step.text, step.fingerprint)
			if !errors.Is(err, step.kind) || step.kind == nil && got != step.want {
				t.Errorf("%s: %s, %v; want %s, %v", step.text, got, err, step.want, step.kind)
			}
		}
		for text, want := range map[string]store.Digest{
			"clicks": second, "clicks@latest": second, "clicks@9": first, "views@1": second,
			string(first): first, string(second[:8]): second,
		} {
			d, _, err := dataset.Lookup(t.Context(), s, text)
			if err != nil || d.Commit.Fingerprint != want {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, text := range []string{"clicks@8", "likes", "likes@latest", "ffffffff", string(first[:7])} {
			if _, _, err := dataset.Lookup(t.Context(), s, text); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if _, _, err := dataset.Lookup(t.Context(), s, "clicks@8"); err == nil || !strings.Contains(err.Error(), "9, 10") {
			t.Errorf("an unknown version: %v, want those that there are", err)
		}
	})
}

// TestOneOfSeveralNames has several give one name to different datasets, and
// several ask for the next version.
func TestOneOfSeveralNames(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		const givers = 8
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range givers {
			fingerprint := store.Digest(strings.Repeat(string(rune('a'+i)), 64))
			wg.Go(func() {
				_, err := dataset.SetLabel(t.Context(), s, dataset.Ref{Name: "clicks", Version: "1"}, fingerprint)
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, store.ErrExist) {
					t.Error(err)
				}
				if _, err := dataset.SetLabel(t.Context(), s, dataset.Ref{Name: "views"}, fingerprint); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of %d gave the name", won.Load(), givers)
		}
		if list, err := dataset.Versions(t.Context(), s, "views"); err != nil || !slices.Equal(list, []string{"1", "2", "3", "4", "5", "6", "7", "8"}) {
			t.Errorf("versions %v, %v", list, err)
		}
	})
}
