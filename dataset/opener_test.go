package dataset_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// recorded keeps what is recorded of a run.
type recorded struct {
	id      tracker.RunID
	sources []string
}

func (r *recorded) ID() tracker.RunID { return r.id }

func (r *recorded) AddArtifact(context.Context, tracker.Artifact) error { return nil }

func (r *recorded) AddSource(_ context.Context, s tracker.Source) error {
	r.sources = append(r.sources, fmt.Sprint(s.ID, "#", s.Artifact))
	return nil
}

// TestOpenRecordsTheUse opens what a run staged, what was copied, and foreign files.
func TestOpenRecordsTheUse(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		stager := dataset.Stager{Maker: &dataset.Maker{Run: "l://s/prepare", Artifact: "clicks@1"}}
		d, _, err := stager.Stage(t.Context(), s, spec(), produce)
		if err != nil {
			t.Fatal(err)
		}
		dir := d.Commit.Splits[dataset.Val].Dir
		for _, key := range keys(t, s, string(dir)+"/") {
			body, err := s.Get(t.Context(), store.Key(key))
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, store.Key("copy").Join(store.Key(key).Base()), string(body))
		}
		foreign(t, s, "lake/x.parquet")
		for _, test := range []struct {
			name string
			run  tracker.RunID
			dir  store.Key
			ref  dataset.Ref
			want []string
		}{
			{"by its place", "l://s/train", dir, dataset.Ref{}, []string{"l://s/prepare#clicks@1"}},
			{"by its name", "l://s/train", dir, dataset.Ref{Name: "clicks", Version: "1"}, []string{"l://s/prepare#clicks@1", "clicks@1#"}},
			{"by who staged it", "l://s/prepare", dir, dataset.Ref{}, nil},
			{"a copy", "l://s/train", "copy", dataset.Ref{}, []string{canonical(t, s, "copy") + "#"}},
			{"foreign files", "l://s/train", "lake", dataset.Ref{}, []string{canonical(t, s, "lake") + "#"}},
		} {
			run := &recorded{id: test.run}
			r, err := dataset.Opener{Run: run, Ref: test.ref}.Open(t.Context(), s, test.dir)
			if err != nil || r.Rows() == 0 {
				t.Fatalf("%s: %v", test.name, err)
			}
			if !slices.Equal(run.sources, test.want) {
				t.Errorf("%s: recorded %v, want %v", test.name, run.sources, test.want)
			}
		}
	})
}

func canonical(t *testing.T, s *store.Store, key store.Key) string {
	t.Helper()
	uri, err := store.CanonicalURI(s.KeyURL(key), "")
	if err != nil {
		t.Fatal(err)
	}
	return uri
}
