package index_test

import (
	"fmt"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// makes records that a run made an artifact of some bytes.
func (w *world) makes(run tracker.RunID, name, bytes string) {
	w.Helper()
	m := pyjson.NewObject(pyjson.Member{Key: tracker.KeySHA256, Value: string(store.DigestOf([]byte(bytes)))})
	if err := w.tracker.AddArtifact(w.Context(), run, tracker.Artifact{Name: name, Path: "/" + name, Metadata: m}); err != nil {
		w.Fatal(err)
	}
}

// takes records that a run used a file of some bytes.
func (w *world) takes(run tracker.RunID, file, bytes string) {
	w.Helper()
	input, err := tracker.NewInput(tracker.Source{URI: file, Digest: string(store.DigestOf([]byte(bytes)))}, "/")
	if err == nil {
		err = w.tracker.AddSource(w.Context(), run, input)
	}
	if err != nil {
		w.Fatal(err)
	}
}

func TestSameBytes(t *testing.T) {
	w := newWorld(t, 12)
	w.makes("s://t/first", "model", "weights")
	w.makes("s://t/again", "copy", "weights")
	w.makes("s://t/first", "empty", "")
	w.takes("s://t/serve", "/anywhere/m.bin", "weights")
	w.takes("s://t/other", "/anywhere/m.bin", "other bytes at the same place")
	w.takes("s://t/serve", "/anywhere/empty", "")
	w.makes("s://t/serve", "own", "own")
	w.takes("s://t/serve", "/own", "own")
	for i := range 30 {
		w.makes(tracker.RunID(fmt.Sprintf("s://t/sweep-%02d", i)), "vocabulary", "words")
	}
	w.takes("s://t/reads", "/words", "words")
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := func(up bool, runs ...string) []lineage.Edge {
		t.Helper()
		edges, err := w.index.SameBytes(t.Context(), runs, up)
		if err != nil {
			t.Fatal(err)
		}
		return edges
	}
	words := func(edges []lineage.Edge) string {
		text := ""
		for _, e := range edges {
			text += fmt.Sprintf("%s>%s:%s ", e.From, e.To, e.Artifact)
		}
		return text
	}
	if got, want := words(ask(true, "s://t/serve", "s://t/other", "s://t/nobody")), "s://t/again>s://t/serve:copy s://t/first>s://t/serve:model "; got != want {
		t.Errorf("up: %s, want %s", got, want)
	}
	if got, want := words(ask(false, "s://t/first")), "s://t/first>s://t/serve:model "; got != want {
		t.Errorf("down: %s, want %s", got, want)
	}
	if got := ask(true, "s://t/reads"); len(got) != 10 {
		t.Errorf("%d makers of one content, want the first ten: %s", len(got), words(got))
	}
	if got := ask(true); len(got) != 0 {
		t.Errorf("of no runs: %s", words(got))
	}
}
