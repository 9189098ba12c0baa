package lineagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const few = 300 // runs: three campaigns, two of one project

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// record writes a run as jobs do, through the tracker; one of TorchX's as it is.
func record(t *testing.T, r *Root, s *store.Store, i int) {
	t.Helper()
	run, err := r.Run(i)
	if err != nil {
		t.Fatal(err)
	}
	if run.TorchX {
		list, err := r.Objects(i, r.Len())
		for _, u := range r.uses(i) {
			list = append(list, r.mirrored(u.run, i))
		}
		for _, o := range list {
			err = errors.Join(err, s.Put(t.Context(), store.Key(o.Key), o.Body))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	tr := tracker.NewFileTracker(s, &tracker.Options{Now: func() time.Time { return run.Started }})
	command, _ := run.Begin.Get(tracker.KeyCommand)
	var words []string
	for _, w := range command.([]any) {
		words = append(words, w.(string))
	}
	start := tracker.AttemptStart{Command: words, Dir: "/home/user/project", Host: "node17", User: run.Begin.Text(tracker.KeyUser), PID: 4711}
	_, err = tr.StartAttempt(t.Context(), run.ID, start)
	err = errors.Join(err, tr.AddMetadata(t.Context(), run.ID, run.Begin))
	for _, a := range run.Artifacts {
		err = errors.Join(err, tr.AddArtifact(t.Context(), run.ID, a))
	}
	for _, source := range run.Sources {
		err = errors.Join(err, tr.AddSource(t.Context(), run.ID, source))
	}
	if run.End != nil {
		err = errors.Join(err, tr.AddMetadata(t.Context(), run.ID, run.End),
			tr.EndAttempt(t.Context(), run.ID, 1, tracker.AttemptEnd{Time: run.Ended, State: run.State, ExitCode: &run.ExitCode}))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// bodies are the objects of a root. The names of records, which hold random digits, are left out.
func bodies(t *testing.T, s *store.Store) []string {
	t.Helper()
	var list []string
	for o, err := range s.List(t.Context(), "") {
		var body []byte
		if err == nil {
			body, err = s.Get(t.Context(), o.Key)
		}
		if err != nil {
			t.Fatal(err)
		}
		key := string(o.Key)
		if kind := o.Key.Dir().Base(); kind == "metadata" || kind == "artifacts" {
			key = string(o.Key.Dir())
		}
		list = append(list, key+"\n"+string(body))
	}
	slices.Sort(list)
	return list
}

// TestObjectsAreWhatTrackerWrites compares a root written directly, in two goes, with one that the tracker recorded.
func TestObjectsAreWhatTrackerWrites(t *testing.T) {
	r := New(Options{Runs: few, Seed: 1})
	dir := t.TempDir()
	for _, part := range [][2]int{{0, 170}, {170, few}} {
		if err := r.Write(t.Context(), dir, part[0], part[1]); err != nil {
			t.Fatal(err)
		}
	}
	recorded := open(t, "mem://")
	init := tracker.NewFileTracker(recorded, &tracker.Options{Now: func() time.Time { return began }, Writer: "heirloom"})
	if err := init.Init(t.Context(), tracker.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range few {
		record(t, r, recorded, i)
	}
	got, want := bodies(t, open(t, dir)), bodies(t, recorded)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("written %s\nrecorded %s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d objects written, %d recorded", len(got), len(want))
	}
}

func TestShape(t *testing.T) {
	r := New(Options{Runs: 10_000, Seed: 2})
	if links := r.Links(); links < 28_000 || links > 34_000 {
		t.Errorf("%d links, want about 3 a run", links)
	}
	if _, n := r.With(1000); n < 500 || n > 1500 {
		t.Errorf("the nearest to 1000 descendants are %d", n)
	}
	ids := map[tracker.RunID]bool{}
	for i := range r.Len() {
		ids[r.ID(i)] = true
	}
	if len(ids) != r.Len() {
		t.Errorf("%d ids of %d runs", len(ids), r.Len())
	}
	if again := New(Options{Runs: 10_000, Seed: 2}); again.ID(77) != r.ID(77) || New(Options{Runs: 100, Seed: 3}).ID(77) == r.ID(77) {
		t.Error("a root does not follow its seed")
	}
}

// TestTorchXReads compares what TorchX sees in a root with what the tracker sees in it.
func TestTorchXReads(t *testing.T) {
	r := New(Options{Runs: few, Seed: 4})
	dir := t.TempDir()
	if err := r.Write(t.Context(), dir, 0, few); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0"), "../../tracker/testdata/torchx_read.py", dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LOGLEVEL=ERROR", "PYTHONUTF8=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	seen, err := pyjson.UnmarshalObject(out)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := seen.Get("runs")
	for run, err := range tracker.NewFileTracker(open(t, dir), nil).Runs(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		theirs, _ := all.(*pyjson.Object).Get(string(run.ID))
		if got, want := words(t, view(run)), words(t, theirs); got != want {
			t.Fatalf("%s: heirloom sees\n%s\nTorchX\n%s", run.ID, got, want)
		}
		all.(*pyjson.Object).Delete(string(run.ID))
	}
	if left := all.(*pyjson.Object).Len(); left != 0 {
		t.Errorf("%d runs are seen by TorchX alone", left)
	}
}

// view is a run as torchx_read.py prints it.
func view(run *tracker.Run) map[string]any {
	artifacts := map[string]any{}
	for _, a := range run.Artifacts {
		artifacts[a.Name] = map[string]any{"path": a.Path, "metadata": a.Metadata}
	}
	sources := [][]any{}
	for _, s := range run.Sources {
		var name any
		if s.Artifact != "" {
			name = s.Artifact
		}
		sources = append(sources, []any{s.ID, name})
	}
	return map[string]any{"metadata": run.Metadata, "artifacts": artifacts, "sources": sources, "children": run.Children}
}

// words is a value with the members of objects in order, and without what only the mirror tells. Lists are sorted.
func words(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatal(err)
	}
	delete(plain, "descendants")
	for _, key := range slices.Collect(maps.Keys(plain)) {
		list, _ := plain[key].([]any)
		var lines []string
		for _, item := range list {
			line, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		if plain[key] == nil || list != nil {
			slices.Sort(lines)
			plain[key] = strings.Join(lines, " ")
		}
	}
	if body, err = json.MarshalIndent(plain, "", " "); err != nil {
		t.Fatal(err)
	}
	return string(body)
}
