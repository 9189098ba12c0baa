package tracker_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestStoredForm fixes every object that is written, byte for byte.
func TestStoredForm(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now, Rand: &counter{}, Writer: "heirloom test"})
		ctx := t.Context()
		check(t, tr.Init(ctx, tracker.InitOptions{Shared: true}))
		check(t, tr.AddMetadata(ctx, runA, object("lr", 0.01, "bs", 25)))
		check(t, tr.AddMetadata(ctx, runA, nil))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "model", Path: "s3://b/k"}))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "model2", Path: "/x/é",
			Metadata: object("b", 1, "a", []any{1, 2.0, nil, true, "ü", "</a>&"})}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "model", Role: tracker.RoleParent}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: "clicks@v1", Role: tracker.RoleInput,
			URI: "s3://b/clicks", Name: "clicks", Version: "v1", Digest: "sha256:00"}))
		n, err := tr.StartAttempt(ctx, runB, tracker.AttemptStart{Command: []string{"python", "train.py"}, Dir: "/w",
			Host: "h", User: "u", PID: 7, BootID: "b",
			Environ: []string{"HOME=/root", "CUDA_VISIBLE_DEVICES=0", "AWS_SECRET_ACCESS_KEY=hunter2"}, Scheduler: object("job_id", 12)})
		if err != nil || n != 1 {
			t.Fatalf("attempt %d, %v", n, err)
		}
		clock.move(time.Minute)
		check(t, tr.Beat(ctx, runB, 1))
		code := 3
		check(t, tr.EndAttempt(ctx, runB, 1, tracker.AttemptEnd{State: tracker.Failed, ExitCode: &code, Signal: "SIGTERM"}))

		const now = `"2026-11-21T10:00:00.123456789Z"`
		sameMap(t, "root", objects(t, s), map[string]string{
			"heirloom.json": `{"format": 1, "oldest_writer": 1, "shared": true, "created": ` + now + `, "writer": "heirloom test"}`,
			key(runA, "metadata", "1795255200123456789-0000000000000000"):  `{"metadata": {"lr": 0.01, "bs": 25}}`,
			key(runA, "metadata", "1795255200123456790-0101010101010101"):  `{"metadata": {}}`,
			key(runA, "artifacts", "1795255200123456791-0202020202020202"): `{"name": "model", "path": "s3://b/k", "metadata": null}`,
			key(runA, "artifacts", "1795255200123456792-0303030303030303"): `{"name": "model2", "path": "/x/\u00e9", "metadata": {"b": 1, "a": [1, 2.0, null, true, "\u00fc", "</a>&"]}}`,
			key(runB, "sources", runA.Encode()):                            "\nmodel\n",
			key(runA, "descendants", runB.Encode()):                        "\nmodel\n",
			key(runB, "heirloom/links", runA.Encode(), "="):                `{"time": ` + now + `}`,
			key(runB, "heirloom/links", runA.Encode(), b32("model")):       `{"time": ` + now + `, "role": "parent"}`,
			key(runB, "sources", b32("clicks@v1")):                         "\n",
			key(runB, "heirloom/links", b32("clicks@v1"), "="): `{"time": ` + now +
				`, "role": "input", "uri": "s3://b/clicks", "name": "clicks", "version": "v1", "digest": "sha256:00"}`,
			key(runB, "heirloom/attempts/000001/start"): `{"time": ` + now +
				`, "command": ["python", "train.py"], "dir": "/w", "host": "h", "user": "u", "boot_id": "b", "writer": "heirloom test", "pid": 7, "environ": {"CUDA_VISIBLE_DEVICES": "0"}, "scheduler": {"job_id": 12}}`,
			key(runB, "heirloom/attempts/000001/beat"): `{"time": "2026-11-21T10:01:00.123456789Z"}`,
			key(runB, "heirloom/attempts/000001/end"):  `{"time": "2026-11-21T10:01:00.123456789Z", "state": "FAILED", "exit_code": 3, "signal": "SIGTERM"}`,
		})
	})
}

// TestRun reads back what TestStoredForm writes.
func TestRun(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
		ctx := t.Context()
		check(t, tr.AddMetadata(ctx, runA, object("lr", 0.01, "bs", 25)))
		check(t, tr.AddMetadata(ctx, runA, object("loss", math.NaN(), "lr", 0.02)))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "z", Path: "/z"}))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "a", Path: "/old"}))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "a", Path: "/a", Metadata: object(tracker.KeySizeBytes, 12, tracker.KeySHA256, "ab", tracker.KeyKey, "runs/a", tracker.KeyKind, tracker.KindModel)}))
		check(t, tr.AddSource(ctx, runA, tracker.Source{ID: "ext", Artifact: "x", Role: tracker.RoleInput, Digest: "d"}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "a"}))
		check(t, tr.AddSource(ctx, runC, tracker.Source{ID: runA}))
		_, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{Command: []string{"x"}, PID: 7, Scheduler: object("id", 1)})
		check(t, err)

		run, err := tr.Run(ctx, runA)
		check(t, err)
		if got, want := dump(t, run.Metadata), `{"lr": 0.02, "bs": 25, "loss": NaN}`; got != want {
			t.Errorf("metadata %s, want %s", got, want)
		}
		if len(run.Artifacts) != 2 || run.Artifacts[0].Path != "/a" || run.Artifacts[1].Metadata != nil {
			t.Errorf("artifacts %+v", run.Artifacts)
		}
		a := run.Artifacts[0]
		if size, ok := a.SizeBytes(); !ok || size != 12 || a.SHA256() != "ab" || a.Key() != "runs/a" || a.Kind() != "model" {
			t.Errorf("artifact %+v", a)
		}
		if size, ok := run.Artifacts[1].SizeBytes(); ok || size != 0 || run.Artifacts[1].Kind() != "other" {
			t.Errorf("artifact %+v", run.Artifacts[1])
		}
		same(t, "sources", links(run.Sources), []string{"ext#x"})
		if src := run.Sources[0]; src.Role != tracker.RoleInput || src.Digest != "d" || !src.Time.Equal(clock.Now()) {
			t.Errorf("source %+v", src)
		}
		if len(run.Children) != 2 || run.Children[0] != runC || run.Children[1] != runB {
			t.Errorf("children %v", run.Children)
		}
		if len(run.Attempts) != 1 || run.Attempts[0].Start.PID != 7 || dump(t, run.Attempts[0].Start.Scheduler) != `{"id": 1}` {
			t.Errorf("attempts %+v", run.Attempts)
		}
		if run.State != tracker.Running || !run.Started.Equal(clock.Now()) || !run.Ended.IsZero() || len(run.Warnings) > 0 {
			t.Errorf("run %+v", run)
		}
	})
}

func TestUnknownRun(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		if _, err := tr.Run(t.Context(), runA); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), string(runA)) {
			t.Errorf("run: %v", err)
		}
		m, err := tr.Metadata(t.Context(), runA)
		if err != nil || m == nil || m.Len() != 0 {
			t.Errorf("metadata: %v, %v", m, err)
		}
		if list, err := tr.Artifacts(t.Context(), runA); err != nil || len(list) != 0 {
			t.Errorf("artifacts: %v, %v", list, err)
		}
		if list, err := tr.Sources(t.Context(), runA, ""); err != nil || len(list) != 0 {
			t.Errorf("sources: %v, %v", list, err)
		}
		if l, err := tr.Lineage(t.Context(), runA); err != nil || len(l.Consumers)+len(l.Sources)+len(l.Artifacts) != 0 {
			t.Errorf("lineage: %v, %v", l, err)
		}
		same(t, "runs", ids(t, tr, ""), []string{})
	})
}

func TestSources(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		ctx := t.Context()
		for _, artifact := range []string{"m2", "", "m1", "m1", ""} {
			check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: artifact}))
		}
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runC, Artifact: "m1"}))
		all, err := tr.Sources(ctx, runB, "")
		check(t, err)
		same(t, "all", links(all), []string{string(runC) + "#m1", string(runA), string(runA) + "#m1", string(runA) + "#m2"})
		one, err := tr.Sources(ctx, runB, "m1")
		check(t, err)
		same(t, "m1", links(one), []string{string(runC) + "#m1", string(runA) + "#m1"})
		if got := objects(t, s)[key(runB, "sources", runA.Encode())]; got != "m2\n\nm1\n" {
			t.Errorf("text file %q", got)
		}
	})
}

// TestTextAlone reads edges that only TorchX wrote, in every form of its file.
func TestTextAlone(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		for body, want := range map[string][]string{
			"":                {"p"},
			"\n":              {"p"},
			"m\n":             {"p#m"},
			"m":               {"p#m"},
			"\nm1\nm2\nm1\n":  {"p", "p#m1", "p#m2"},
			"  spaced \t\r\n": {"p#spaced"},
			"a\n \nb\n":       {"p", "p#a", "p#b"},
			"\xff\n":          {"p#\ufffd"},
		} {
			put(t, s, key(runB, "sources", b32("p")), body)
			got, err := tr.Sources(t.Context(), runB, "")
			check(t, err)
			same(t, "sources of "+body, links(got), want)
		}
	})
}

// TestTornLine has a line that a crash cut short, beside the link it came from.
func TestTornLine(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		check(t, tr.AddSource(t.Context(), runB, tracker.Source{ID: "p", Artifact: "model"}))
		put(t, s, key(runB, "sources", b32("p")), "\nmod")
		got, err := tr.Sources(t.Context(), runB, "")
		check(t, err)
		same(t, "sources", links(got), []string{"p", "p#model"})
	})
}

// TestMirror writes to the parent only if the parent is tracked.
func TestMirror(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		check(t, tr.AddSource(t.Context(), runB, tracker.Source{ID: runA}))
		same(t, "runs", ids(t, tr, ""), []string{string(runB)})
		check(t, tr.AddMetadata(t.Context(), runA, object("a", 1)))
		check(t, tr.AddSource(t.Context(), runB, tracker.Source{ID: runA}))
		if got := objects(t, s)[key(runA, "descendants", runB.Encode())]; got != "\n" {
			t.Errorf("mirror %q", got)
		}
	})
}

// TestOrder reads records by the number of their names, whatever wrote them.
func TestOrder(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		for name, v := range map[string]string{
			"999": "1", "1000": "2", "0000000000000001000-ff": "3", "1000-aa": "4", "01001": "5",
		} {
			put(t, s, key(runA, "metadata", name), `{"metadata": {"v": `+v+`, "w`+v+`": 0}}`)
		}
		m, err := tr.Metadata(t.Context(), runA)
		check(t, err)
		if got, want := dump(t, m), `{"v": 5, "w1": 0, "w3": 0, "w2": 0, "w4": 0, "w5": 0}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestNamesRise writes with clocks that stand still and run backwards.
func TestNamesRise(t *testing.T) {
	s := openStore(t, "mem://", nil)
	clock := newWall()
	tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
	for i := range 100 {
		check(t, tr.AddMetadata(t.Context(), runA, object("last", i)))
		clock.move(time.Duration(i%3-1) * time.Hour)
	}
	m, err := tr.Metadata(t.Context(), runA)
	check(t, err)
	if v, _ := m.Get("last"); v != int64(99) {
		t.Errorf("the last value is %v", v)
	}
}

// TestNamesRiseWithinTheProcess writes through many trackers of one root.
func TestNamesRiseWithinTheProcess(t *testing.T) {
	s := openStore(t, "mem://", nil)
	for i := range 100 {
		check(t, tracker.NewFileTracker(s, nil).AddMetadata(t.Context(), runA, object("last", i)))
	}
	m, err := tracker.NewFileTracker(s, nil).Metadata(t.Context(), runA)
	check(t, err)
	if v, _ := m.Get("last"); v != int64(99) {
		t.Errorf("the last value is %v", v)
	}
}

func TestTorchXArtifactForms(t *testing.T) {
	s := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	put(t, s, key(runA, "artifacts", "1"), `{"name": 1, "path": 1e5, "metadata": null}`)
	put(t, s, key(runA, "artifacts", "2"), `{"name": true, "path": null, "metadata": {}}`)
	put(t, s, key(runA, "artifacts", "3"), `{"name": NaN, "path": -Infinity}`)
	list, err := tr.Artifacts(t.Context(), runA)
	check(t, err)
	var got []string
	for _, a := range list {
		got = append(got, a.Name+"="+a.Path)
	}
	same(t, "artifacts", got, []string{"1=100000.0", "True=None", "nan=-inf"})
}
