package lineage_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// sum is a digest of one digit.
func sum(digit string) store.Digest { return store.Digest(strings.Repeat(digit, 64)) }

// copies is a root in which two runs made the same bytes, and others used them by three names.
func copies() (*lineage.Graph, []lineage.Content) {
	g := lineage.New([]tracker.RunID{"s://t/first", "s://t/again", "s://t/eval", "s://t/serve"}, []tracker.Edge{
		{From: "data@1", To: "s://t/first", Source: tracker.Source{ID: "data@1", Role: tracker.RoleInput, Name: "data", Version: "1"}},
		{From: "data@1", To: "s://t/again", Source: tracker.Source{ID: "data@1", Role: tracker.RoleInput, Name: "data", Version: "1"}},
		{From: "s://t/first", To: "s://t/eval", Source: tracker.Source{ID: "s://t/first", Artifact: "model"}},
		{From: "s://t/first", To: "s://t/eval", Source: tracker.Source{ID: "s://t/first", Artifact: "log"}},
		{From: "file:///m.bin", To: "s://t/serve", Source: tracker.Source{ID: "file:///m.bin", Role: tracker.RoleInput, URI: "file:///m.bin", Digest: string(sum("a"))}},
	})
	contents := []lineage.Content{
		{Run: "s://t/again", Artifact: "copy", Path: "file:///again/copy", SHA256: sum("a"), Size: 3, Started: time.Unix(2, 0)},
		{Run: "s://t/first", Artifact: "model", Path: "file:///first/model", SHA256: sum("a"), Size: 3, Started: time.Unix(1, 0)},
		{Run: "s://t/first", Artifact: "log", Path: "file:///first/log", SHA256: sum("b"), Size: 9, Started: time.Unix(1, 0)},
		{Run: "s://t/eval", Artifact: "bare", Path: "s3://b/bare", Size: -1},
	}
	return g.WithContents(contents), contents
}

func TestResolveContents(t *testing.T) {
	g, _ := copies()
	tests := []struct{ text, want string }{
		{"sha256:" + string(sum("a")), "sha256:" + string(sum("a"))},
		{"aaaaaaaa", "sha256:" + string(sum("a"))},
		{"SHA256:AAAAAAAA", "sha256:" + string(sum("a"))},
		{"sha256:bbbbbbbb", "s://t/first#log"}, // of one name: that
		{"file:///again/copy", "s://t/again#copy"},
		{"s3a://b/bare", "s://t/eval#bare"},
		{"file:///m.bin", "file:///m.bin"},
	}
	for _, tt := range tests {
		if got, err := g.Resolve(tt.text); err != nil || got != tt.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"aaaaaaa", "sha256:aaaa", "cccccccc", "sha256:cccccccc", "aaaaaaag"} {
		if got, err := g.Resolve(text); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("Resolve(%q) = %q, %v; want kind ErrNotExist", text, got, err)
		}
	}
	two := g.WithContents([]lineage.Content{{Run: "x", Artifact: "1", SHA256: "abcdef01" + sum("0")[:56]}, {Run: "x", Artifact: "2", SHA256: "abcdef02" + sum("0")[:56]}})
	if _, err := two.Resolve("abcdef0"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("seven digits: %v", err)
	}
	same := g.WithContents([]lineage.Content{{Run: "x", Artifact: "1", SHA256: "abcdef01" + sum("0")[:56]}, {Run: "x", Artifact: "2", SHA256: "abcdef01" + sum("1")[:56]}})
	if _, err := same.Resolve("abcdef01"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("digits of two contents: %v", err)
	}
}

// One content has all makers above it, and below it who used it by any of its names.
func TestWithContent(t *testing.T) {
	g, contents := copies()
	names := append(contents[:2:2], lineage.Content{Input: "file:///m.bin", SHA256: sum("a"), Size: -1, UsedBy: []tracker.RunID{"s://t/serve"}})
	lineage.SortContents(names)
	if names[0].Run != "s://t/first" || names[2].Input == "" {
		t.Errorf("order %+v", names)
	}
	id := lineage.ContentID(sum("a"))
	wider := g.WithContent(sum("a"), names)
	equal(t, "above", write(closure(t, wider, id, lineage.Query{Up: true}).Edges), []string{
		"data@1>s://t/again", "data@1>s://t/first", "s://t/again>" + id + ":copy", "s://t/first>" + id + ":model"})
	equal(t, "below", write(closure(t, wider, id, lineage.Query{Down: true}).Edges), []string{id + ">s://t/eval:model", id + ">s://t/serve:file:///m.bin"})
	node, err := wider.Node(id)
	if err != nil || node.Kind != lineage.KindContent || node.Label() != "sha256:aaaaaaaaaaaa" {
		t.Errorf("%+v, %v", node, err)
	}
	if d, ok := lineage.ParseContentID(id); !ok || d != sum("a") {
		t.Errorf("%s, %t", d, ok)
	}
	for _, bad := range []string{"sha256:aaaa", string(sum("a")), "sha256:" + strings.Repeat("A", 64), id + "#x"} {
		if _, ok := lineage.ParseContentID(bad); ok {
			t.Errorf("%q is read as a content", bad)
		}
	}
}
