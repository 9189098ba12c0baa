package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// queue is a scheduler that takes apps and never runs them, or refuses them.
type queue struct{ refuses error }

func (queue) Options() *OptionSet { return nil }

func (queue) Prepare(context.Context, *Plan) error { return nil }

func (q queue) Submit(context.Context, *Plan) (Submission, error) {
	return Submission{JobID: "4711", Metadata: map[string]string{"cluster": "c1"}}, q.refuses
}

func (queue) Status(context.Context, Handle) (AppStatus, error) {
	return AppStatus{}, store.ErrNotExist
}

func (queue) Cancel(context.Context, Handle, CancelOptions) error { return nil }

func (queue) Close() error { return nil }

func queued(t *testing.T, l *Launcher, refuses error) *Runner {
	t.Helper()
	open := func(context.Context) (Scheduler, error) { return queue{refuses}, nil }
	r, err := New("", []Backend{{Name: "queue", Open: open}}, &Options{Recorder: l.Recorder([]string{"USER=ann"})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func queueing(name string) Request {
	return Request{
		Dir: "/work", App: App{Name: name, Roles: []Role{{
			Name: "r", Entrypoint: "train", Args: []string{"--lr", "0.1", "--password=hunter2hunter2"}, NumReplicas: 2, Resource: Resource{CPU: 1},
		}}},
		Recording: Recording{
			Project: "p", Parent: "local://torchx/sweep-1", Sources: []tracker.Source{{ID: "local://torchx/data-1", Artifact: "train"}},
			Params: pyjson.NewObject(pyjson.Member{Key: "lr", Value: 0.1}),
		},
	}
}

// A run is known while it waits, with all that leads to it.
func TestSubmittedIsRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	h, err := queued(t, l, nil).Run(t.Context(), queueing("wait"))
	if err != nil {
		t.Fatal(err)
	}
	run := readRun(t, l, h.RunID())
	if run.State != tracker.Submitted || run.Metadata.Text(tracker.KeyName) != "wait" || run.Metadata.Text(tracker.KeyUser) != "ann" ||
		run.Metadata.Text("heirloom.scheduler.job_id") != "4711" || run.Metadata.Text("heirloom.scheduler.cluster") != "c1" || value(run.Metadata, "params.lr") != 0.1 {
		t.Errorf("recorded %s, %s", run.State, jsonOf(run.Metadata))
	}
	if app := jsonOf(run.Metadata); !strings.Contains(app, `"num_replicas": 2`) || !strings.Contains(app, `"--lr"`) {
		t.Errorf("the app is recorded as %s", app)
	}
	if len(run.Sources) != 2 {
		t.Errorf("its sources: %+v", run.Sources)
	}
	checkNoSecret(t, l, "hunter2hunter2")
	// When it runs, its attempts count.
	job := sh("exit 0")
	job.RunID = h.RunID()
	if result, run := launched(t, l, job); result.State != tracker.Succeeded || run.State != tracker.Succeeded || run.Metadata.Text(tracker.KeyState) != "SUCCEEDED" {
		t.Errorf("after its attempt: %s, %s", run.State, jsonOf(run.Metadata))
	}
}

// Who keeps an index hears of a run that waits, and of one that will not run.
func TestSubmittedIsAnnounced(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	journal := l.Store.Sub("journal")
	l.Tracker = tracker.NewFileTracker(l.Store.Sub(l.Store.Layout().Tracker()), &tracker.Options{Journal: journal})
	hears := func(what string, want int) {
		t.Helper()
		heard := 0
		for _, err := range journal.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			heard++
		}
		if heard != want {
			t.Errorf("%s: heard %d times, want %d", what, heard, want)
		}
	}
	h, err := queued(t, l, nil).Run(t.Context(), queueing("heard"))
	if err != nil {
		t.Fatal(err)
	}
	hears("submitted", 2) // before, and with its number
	if err := l.Forsake(t.Context(), h.RunID(), tracker.AttemptEnd{State: tracker.Cancelled}); err != nil {
		t.Fatal(err)
	}
	hears("forsaken", 3)
}

// While it runs it is RUNNING to TorchX's readers too; when it is to be started again it waits, unless it is forsaken.
func TestRequeuedIsRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	h, err := queued(t, l, nil).Run(t.Context(), queueing("again"))
	if err != nil {
		t.Fatal(err)
	}
	says := func(what string, run *tracker.Run, state tracker.State, code any) {
		t.Helper()
		if run.State != state || run.Metadata.Text(tracker.KeyState) != string(state) || value(run.Metadata, tracker.KeyExitCode) != code {
			t.Errorf("%s: %s, %s", what, run.State, jsonOf(run.Metadata))
		}
	}
	code := 3
	job := Job{Args: []string{"train"}, RunID: h.RunID(), Requeued: func() bool { return code == 3 }}
	job.Execute = func(context.Context, Started, []string) (process.Exit, error) {
		says("while it runs", readRun(t, l, h.RunID()), tracker.Running, nil)
		return process.Exit{Code: code}, nil
	}
	result, run := launched(t, l, job)
	if result.State != tracker.Failed || result.ExitCode != 3 {
		t.Errorf("got %+v", result)
	}
	says("between", run, tracker.Pending, nil)
	if _, run = launched(t, l, job); len(run.Attempts) != 2 {
		t.Errorf("attempts %+v", run.Attempts)
	}
	says("between once more", run, tracker.Pending, nil)
	if err := l.Forsake(t.Context(), h.RunID(), tracker.AttemptEnd{State: tracker.Failed, ExitCode: &code}); err != nil {
		t.Fatal(err)
	}
	says("forsaken", readRun(t, l, h.RunID()), tracker.Failed, int64(3))
	code = 4
	_, run = launched(t, l, job)
	says("ended", run, tracker.Failed, int64(4))
}

func TestRefusedIsRecorded(t *testing.T) {
	for _, c := range []struct {
		err  error
		want State
	}{{store.ErrPermission, tracker.Unsubmitted}, {store.ErrUnavailable, tracker.Submitted}} {
		l := newLauncher(t, t.TempDir(), nil)
		request := queueing("refused")
		request.RunID = "queue://torchx/refused-1"
		if _, err := queued(t, l, c.err).Run(t.Context(), request); !errors.Is(err, c.err) {
			t.Fatalf("got %v", err)
		}
		run := readRun(t, l, request.RunID)
		if run.State != c.want || !strings.Contains(jsonOf(run.Metadata), "not submitted: ") {
			t.Errorf("%v: recorded %s, %s", c.err, run.State, jsonOf(run.Metadata))
		}
	}
}

func TestResumeAtSubmit(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	r := queued(t, l, nil)
	request := queueing("again")
	request.RunID, request.Recording.Resume = "queue://torchx/again-1", ResumeMust
	if _, err := r.Run(t.Context(), request); !errors.Is(err, ErrRefused) {
		t.Errorf("nothing to resume: %v", err)
	}
	if known, err := l.Tracker.Exists(t.Context(), request.RunID); known || err != nil {
		t.Errorf("what is refused is recorded: %v, %v", known, err)
	}
	request.Recording.Resume = ResumeNever
	plan, err := r.Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the plan is settled by the first
		if _, err := r.Submit(t.Context(), plan); err != nil {
			t.Errorf("got %v", err)
		}
	}
	if _, err := r.Run(t.Context(), request); !errors.Is(err, ErrRefused) {
		t.Errorf("it exists: %v", err)
	}
}
