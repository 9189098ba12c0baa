package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestMain lets this binary stand in for heirloom: "demo-step NAME FLAG…".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "demo-step" {
		if err := stepFromEnviron(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stepFromEnviron does what the hidden command does.
func stepFromEnviron(ctx context.Context) error {
	s, err := store.Open(ctx, os.Getenv("HEIRLOOM_STORE"), &store.Options{Environ: os.Environ()})
	if err != nil {
		return err
	}
	run, err := tracker.FromEnviron(ctx, os.Environ(), nil)
	if err != nil {
		return err
	}
	env := Env{
		Store: s, OutputDir: os.Getenv("HEIRLOOM_OUTPUT_DIR"), CheckpointDir: os.Getenv("HEIRLOOM_CHECKPOINT_DIR"),
		MetricsPath: os.Getenv("HEIRLOOM_METRICS"), Stdout: os.Stdout, Artifacts: run,
	}
	return errors.Join(Step(ctx, env, os.Args[2], os.Args[3:]), run.Close(), s.Close())
}

func config(t *testing.T, url string) Config {
	t.Helper()
	s, err := store.Open(t.Context(), url, &store.Options{Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	track := tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil)
	launcher := runner.NewLauncher(s, track)
	launcher.TempDir = t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Launcher: launcher, Tracker: track, Store: s, Executable: program,
		Environ: os.Environ(), Stdout: t.Output(), Stderr: t.Output(),
	}
}

// TestRun runs the demo twice on a local disk. The other kinds of store are tried by whole commands.
func TestRun(t *testing.T) {
	c := config(t, t.TempDir())
	first, second := runDemo(t, c), runDemo(t, c)
	checkEdges(t, c, first)
	checkEdges(t, c, second)
	if second.TestAccuracy != first.TestAccuracy {
		t.Errorf("the second time the test accuracy is %v, the first time %v", second.TestAccuracy, first.TestAccuracy)
	}
	if n := countIndices(t, c.Store); n != 1 {
		t.Errorf("%d datasets were staged in two runs of the demo", n)
	}
}

func runDemo(t *testing.T, c Config) Outcome {
	t.Helper()
	var ended []string
	c.Ended = func(run Launched) { ended = append(ended, run.Name) }
	out, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"prepare", "train-small", "train-wide", "finetune", "evaluate"}
	if !slices.Equal(ended, want) || len(out.Runs) != len(want) {
		t.Errorf("ran %v, want %v", ended, want)
	}
	for _, run := range out.Runs {
		if run.State != tracker.Succeeded || len(run.Warnings) > 0 {
			t.Errorf("%s ended %s with warnings %v", run.Name, run.State, run.Warnings)
		}
		t.Logf("%-12s %v, %d artifacts", run.Name, run.Ended.Sub(run.Started), run.Artifacts)
	}
	if out.TestAccuracy < 0.97 || out.Evaluated != out.Runs[4].RunID {
		t.Errorf("test accuracy %v of run %s", out.TestAccuracy, out.Evaluated)
	}
	return out
}

// checkEdges checks what each step used, and that the source made it.
func checkEdges(t *testing.T, c Config, out Outcome) {
	t.Helper()
	id := make(map[string]tracker.RunID)
	for _, run := range out.Runs {
		id[run.Name] = run.RunID
	}
	chosen := id[out.Chosen]
	for step, want := range map[string][]string{
		"prepare":     {"uci-optdigits@1998-07#digits.csv.gz"},
		"train-small": {string(id["prepare"]) + "#train", string(id["prepare"]) + "#val"},
		"train-wide":  {string(id["prepare"]) + "#train", string(id["prepare"]) + "#val"},
		"finetune":    {string(id["prepare"]) + "#train", string(id["prepare"]) + "#val", string(chosen) + "#checkpoints/epoch-00"},
		"evaluate":    {string(id["prepare"]) + "#test", string(id["finetune"]) + "#model.safetensors"},
	} {
		sources, err := c.Tracker.Sources(t.Context(), id[step], "")
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			edge := string(source.ID) + "#" + source.Artifact
			at := slices.IndexFunc(want, func(w string) bool { return strings.HasPrefix(edge, w) })
			if at < 0 {
				t.Errorf("%s used %s, want one of %v", step, edge, want)
				continue
			}
			want = slices.Delete(want, at, at+1)
			if source.Role != tracker.RoleInput {
				checkMade(t, c, source)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s did not use %v", step, want)
		}
	}
}

// checkMade checks that the source has the artifact, and that its bytes are there.
func checkMade(t *testing.T, c Config, source tracker.Source) {
	t.Helper()
	artifacts, err := c.Tracker.Artifacts(t.Context(), source.ID)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(artifacts, func(a tracker.Artifact) bool { return a.Name == source.Artifact })
	if at < 0 {
		t.Fatalf("%s has no artifact %s", source.ID, source.Artifact)
	}
	a := artifacts[at]
	if a.Kind() == tracker.KindDataset {
		if _, err := dataset.Open(t.Context(), c.Store, store.Key(a.Key())); err != nil {
			t.Error(err)
		}
		return
	}
	if _, err := readModel(t.Context(), c.Store, a.Path); err != nil {
		t.Error(err)
	}
}

func countIndices(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	for object, err := range s.List(t.Context(), "heirloom/datasets/index/") {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(object.Key.Base(), ".end") { // beside the claim, not one
			n++
		}
	}
	return n
}

func TestRunStopsAtAFailure(t *testing.T) {
	c := config(t, t.TempDir())
	c.Executable = "/bin/false"
	out, err := Run(t.Context(), c)
	var failed *FailedError
	if !errors.As(err, &failed) || failed.Name != "prepare" || failed.ExitCode != 1 || len(out.Runs) != 1 {
		t.Errorf("Run = %+v, %v", out, err)
	}
	c.Executable = "/no/such/program"
	if _, err := Run(t.Context(), c); !errors.Is(err, runner.ErrNotFound) {
		t.Errorf("Run = %v, want %v", err, runner.ErrNotFound)
	}
}
