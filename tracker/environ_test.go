package tracker_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// closing is a tracker that notes its Close.
type closing struct {
	tracker.Tracker
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

func TestFromEnvironTorchX(t *testing.T) {
	ctx := t.Context()
	one := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	two := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	configs, closed := map[string]string{}, 0
	factory := func(name string, tr tracker.Tracker) tracker.Factory {
		return func(_ context.Context, config string) (tracker.Tracker, error) {
			configs[name] = config
			return closing{tr, &closed}, nil
		}
	}
	run, err := tracker.FromEnviron(ctx, []string{
		"TORCHX_JOB_ID=" + string(runB), "TORCHX_PARENT_RUN_ID=" + string(runA),
		"TORCHX_TRACKERS= one,two,", "TORCHX_TRACKER_ONE_CONFIG=/etc/one=1", "TORCHX_TRACKER_TWO_CONFIG=",
		"HEIRLOOM_STORE=mem://", // where the user keeps things; no run is named
	}, map[string]tracker.Factory{"one": factory("one", one), "two": factory("two", two)})
	check(t, err)
	if run.ID() != runB || configs["one"] != "/etc/one=1" || configs["two"] != "" || len(configs) != 2 {
		t.Errorf("run %s, configs %q", run.ID(), configs)
	}
	check(t, run.AddMetadata(ctx, object("a", 1)))
	check(t, run.AddArtifact(ctx, tracker.Artifact{Name: "m", Path: "/m"}))
	check(t, run.AddSource(ctx, tracker.Source{ID: "ext", Artifact: "x"}))
	for _, tr := range []*tracker.FileTracker{one, two} {
		got, err := tr.Run(ctx, runB)
		check(t, err)
		same(t, "sources", links(got.Sources), []string{"ext#x", string(runA)})
		if got.Sources[1].Role != tracker.RoleParent || got.Metadata.Len() != 1 || len(got.Artifacts) != 1 {
			t.Errorf("run %+v", got)
		}
	}
	check(t, run.Close())
	check(t, run.Close())
	if closed != 2 {
		t.Errorf("%d trackers closed", closed)
	}
}

func TestAppRunSourcesAndChildren(t *testing.T) {
	ctx := t.Context()
	tr := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	parent, child := tracker.NewAppRun(runA, tr), tracker.NewAppRun(runB, tr)
	check(t, child.AddSource(ctx, tracker.Source{ID: runA, Artifact: "m"}))
	sources, err := child.Sources(ctx)
	check(t, err)
	if len(sources) != 1 || sources[0].Artifact != "m" || sources[0].Run.ID() != runA {
		t.Fatalf("sources %+v", sources)
	}
	check(t, sources[0].Run.AddMetadata(ctx, object("from", "child")))
	children, err := parent.Children(ctx)
	check(t, err)
	if len(children) != 1 || children[0].ID() != runB {
		t.Fatalf("children %+v", children)
	}
	check(t, children[0].AddMetadata(ctx, object("from", "parent")))
	same(t, "runs", ids(t, tr, ""), []string{string(runA), string(runB)})
	check(t, parent.Close())
}

func TestFromEnvironHeirloom(t *testing.T) {
	ctx := t.Context()
	for _, how := range []string{"HEIRLOOM_STORE", "HEIRLOOM_TRACKER"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			run, err := tracker.FromEnviron(ctx, []string{
				how + "=" + dir, "HEIRLOOM_RUN_ID=" + string(runB), "HEIRLOOM_PARENT_RUN_ID=" + string(runA),
				// What the launcher sets for Python code: not to be used as well.
				"TORCHX_JOB_ID=other", "TORCHX_TRACKERS=unknown", "TORCHX_PARENT_RUN_ID=other",
			}, nil)
			check(t, err)
			check(t, run.AddMetadata(ctx, object("a", 1)))
			check(t, run.Close())
			root := dir
			if how == "HEIRLOOM_STORE" {
				root = filepath.Join(dir, "tracker")
			}
			tr := tracker.NewFileTracker(openStore(t, root, nil), nil)
			same(t, "runs", ids(t, tr, ""), []string{string(runB)})
			same(t, "children", ids(t, tr, runA), []string{string(runB)})
		})
	}
}

// TestFromEnvironOutside does nothing, as in TorchX.
func TestFromEnvironOutside(t *testing.T) {
	ctx := t.Context()
	for name, environ := range map[string][]string{
		"nothing":       nil,
		"a store":       {"HEIRLOOM_STORE=/nowhere", "HEIRLOOM_RUN_ID="},
		"empty values":  {"TORCHX_JOB_ID=", "TORCHX_TRACKERS="},
		"undefined":     {"TORCHX_JOB_ID=<UNDEFINED>"},
		"a parent only": {"TORCHX_PARENT_RUN_ID=x"},
	} {
		run, err := tracker.FromEnviron(ctx, environ, nil)
		check(t, err)
		if run.ID() != tracker.UndefinedID {
			t.Errorf("%s: id %s", name, run.ID())
		}
		check(t, run.AddMetadata(ctx, object("a", 1)))
		check(t, run.AddSource(ctx, tracker.Source{}))
		if list, err := run.Sources(ctx); err != nil || len(list) > 0 {
			t.Errorf("%s: sources %v, %v", name, list, err)
		}
		if list, err := run.Children(ctx); err != nil || len(list) > 0 {
			t.Errorf("%s: children %v, %v", name, list, err)
		}
		check(t, run.Close())
	}
	run, err := tracker.FromEnviron(ctx, []string{"TORCHX_JOB_ID=j", "TORCHX_PARENT_RUN_ID=p"}, nil)
	if err != nil || run.ID() != "j" {
		t.Errorf("a job without trackers: %v, %v", run, err)
	}
}

func TestFromEnvironRefuses(t *testing.T) {
	closed := 0
	factories := map[string]tracker.Factory{
		"good": func(context.Context, string) (tracker.Tracker, error) {
			return closing{tracker.NewFanout(), &closed}, nil
		},
		"bad": func(context.Context, string) (tracker.Tracker, error) { return nil, errors.New("out of order") },
	}
	tests := []struct {
		name, want string
		environ    []string
	}{
		{"trackers without a job id", "TORCHX_JOB_ID", []string{"TORCHX_TRACKERS=good"}},
		{"trackers of an undefined job", "TORCHX_JOB_ID", []string{"TORCHX_TRACKERS=good", "TORCHX_JOB_ID=<UNDEFINED>"}},
		{"unknown tracker", `"mlflow"`, []string{"TORCHX_TRACKERS=good,mlflow", "TORCHX_JOB_ID=j"}},
		{"factory that fails", "tracker bad: out of order", []string{"TORCHX_TRACKERS=good,bad", "TORCHX_JOB_ID=j"}},
		{"job id", "TORCHX_JOB_ID", []string{"TORCHX_JOB_ID=a\nb"}},
		{"parent id", "TORCHX_PARENT_RUN_ID", []string{"TORCHX_JOB_ID=j", "TORCHX_PARENT_RUN_ID=a\nb"}},
		{"run id", "HEIRLOOM_RUN_ID", []string{"HEIRLOOM_RUN_ID=" + strings.Repeat("x", 156), "HEIRLOOM_STORE=mem://"}},
		{"parent of run", "HEIRLOOM_PARENT_RUN_ID", []string{"HEIRLOOM_RUN_ID=x", "HEIRLOOM_PARENT_RUN_ID=\n", "HEIRLOOM_STORE=mem://"}},
		{"run without a store", "HEIRLOOM_STORE", []string{"HEIRLOOM_RUN_ID=x"}},
		{"unknown scheme", "nosuch", []string{"HEIRLOOM_RUN_ID=x", "HEIRLOOM_STORE=nosuch://x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run, err := tracker.FromEnviron(t.Context(), test.environ, factories)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, %v, want %q", run, err, test.want)
			}
			if test.name != "factory that fails" && !errors.Is(err, store.ErrInvalid) {
				t.Errorf("kind of %v", err)
			}
		})
	}
	if closed != 2 {
		t.Errorf("%d trackers closed after an error", closed)
	}
}

func TestParentThatCannotBeLinked(t *testing.T) {
	closed := 0
	s := openStore(t, "mem://", nil)
	put(t, s, "heirloom.json", `{"format": 9, "oldest_writer": 9}`)
	factories := map[string]tracker.Factory{"new": func(context.Context, string) (tracker.Tracker, error) {
		return closing{tracker.NewFileTracker(s, nil), &closed}, nil
	}}
	_, err := tracker.FromEnviron(t.Context(), []string{"TORCHX_JOB_ID=j", "TORCHX_TRACKERS=new", "TORCHX_PARENT_RUN_ID=p"}, factories)
	if !errors.Is(err, store.ErrUnsupported) || closed != 1 {
		t.Errorf("got %v, %d closed", err, closed)
	}
}
