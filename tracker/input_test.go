package tracker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestNewInput(t *testing.T) {
	long := "s3://bucket/" + strings.Repeat("x", 200)
	tests := []struct {
		name   string
		source tracker.Source
		id     tracker.RunID
		uri    string
	}{
		{"name and version", tracker.Source{Name: "clicks", Version: "2026-11-20", URI: "s3a://b/clicks/"}, "clicks@2026-11-20", "s3://b/clicks"},
		{"name alone", tracker.Source{Name: "clicks"}, "clicks", ""},
		{"uri", tracker.Source{URI: "s3n://b/clicks"}, "s3://b/clicks", "s3://b/clicks"},
		{"relative path", tracker.Source{URI: "data/x.csv"}, "file:///work/data/x.csv", "file:///work/data/x.csv"},
		{"absolute path", tracker.Source{URI: "/data/../x.csv"}, "file:///x.csv", "file:///x.csv"},
		{"what was given is replaced", tracker.Source{ID: "other", Role: "parent", Name: "n"}, "n", ""},
		{"long uri", tracker.Source{URI: long}, "sha256:" + "c5a1", long},
		{"long name", tracker.Source{Name: strings.Repeat("n", 150), Version: "123456"}, "sha256:", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := tracker.NewInput(test.source, "/work")
			check(t, err)
			hashed := strings.HasPrefix(string(test.id), "sha256:") && len(got.ID) == 71
			if got.ID != test.id && !hashed || got.URI != test.uri || got.Role != tracker.RoleInput {
				t.Errorf("got %+v", got)
			}
			if got.Name != test.source.Name || got.Version != test.source.Version {
				t.Errorf("name or version is gone: %+v", got)
			}
		})
	}
	a, err := tracker.NewInput(tracker.Source{URI: long + "a"}, "/")
	check(t, err)
	b, err := tracker.NewInput(tracker.Source{URI: long + "b"}, "/")
	check(t, err)
	if a.ID == b.ID {
		t.Errorf("two long inputs share the id %s", a.ID)
	}
}

func TestNewInputRefuses(t *testing.T) {
	for _, s := range []tracker.Source{
		{}, {Version: "1"}, {Name: "a\nb"}, {Name: "a\xff"}, {Name: strings.Repeat("x", 200) + "\n"},
		{Name: strings.Repeat("x", 70_000)}, {URI: "s3://b/a\nb"},
	} {
		if got, err := tracker.NewInput(s, "/"); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%.50q: got %+v, %v", s.Name+s.URI, got, err)
		}
	}
}

// TestInputsAreSources are read back whole, and are no runs.
func TestInputsAreSources(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		in, err := tracker.NewInput(tracker.Source{URI: "s3://b/" + strings.Repeat("x", 200), Digest: "sha256:ab"}, "/")
		check(t, err)
		check(t, tr.AddSource(t.Context(), runA, in))
		list, err := tr.Sources(t.Context(), runA, "")
		check(t, err)
		if len(list) != 1 || list[0].URI != in.URI || list[0].ID != in.ID || list[0].Digest != "sha256:ab" || list[0].Time.IsZero() {
			t.Errorf("sources %+v", list)
		}
		same(t, "runs", ids(t, tr, ""), []string{string(runA)})
	})
}
