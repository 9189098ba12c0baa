//go:build unix

package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fakeSlurm is commands of that name, each a script of sh, and a scheduler that finds
// no others.
func fakeSlurm(t *testing.T, scripts map[string]string) (s *Scheduler, dir string) {
	t.Helper()
	dir = t.TempDir()
	limit := time.Minute // which a busy machine takes
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ncd '"+dir+"'\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(script, "/bin/sleep") {
			limit = 5 * time.Second // to be waited for
		}
	}
	s, err := New(Options{
		Environ: []string{"PATH=" + dir, "USER=ann"}, StateDir: filepath.Join(dir, "state"),
		AnswerLimit: limit, Poll: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func fakePlan(t *testing.T, s *Scheduler) *runner.Plan {
	t.Helper()
	plan := planned(appOf("train", runner.Role{Name: "r", Entrypoint: "sh", NumReplicas: 1}), runner.Config{"program": "/opt/heirloom"})
	if err := s.Prepare(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// line is what squeue says of the job of fakePlan.
const line = `echo '41|41|N/A|PENDING|2026-11-21T20:38:30|N/A|N/A|ann||Priority|heirloom:slurm://torchx/train-bcd1#L1|train-bcd1'`

func TestSubmitThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		scripts map[string]string
		kind    error
		want    string
		kept    bool // the intent, since the job may have been taken
	}{
		"absent":      {nil, store.ErrUnavailable, "sbatch cannot be called here", false},
		"refusing":    {map[string]string{"sbatch": `/bin/echo "sbatch: error: invalid partition specified: gpu" >&2; exit 1`}, store.ErrInvalid, "invalid partition specified: gpu", false},
		"not allowed": {map[string]string{"sbatch": `/bin/echo "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified" >&2; exit 1`}, store.ErrPermission, "Invalid account", false},
		"down":        {map[string]string{"sbatch": `/bin/echo "sbatch: error: Unable to contact slurm controller (connect failure)" >&2; exit 1`, "squeue": "exit 1"}, store.ErrUnavailable, "Unable to contact", true},
		"timing out":  {map[string]string{"sbatch": `exec /bin/sleep 600`, "squeue": ""}, store.ErrUnavailable, "no answer in 5s", true},
		"garbage":     {map[string]string{"sbatch": `/bin/echo "<html>502</html>"`, "squeue": ""}, store.ErrCorrupt, "502", true},
		"silent":      {map[string]string{"sbatch": ``, "squeue": ""}, store.ErrCorrupt, "cannot be understood", true},
		"killed":      {map[string]string{"sbatch": `kill -9 $$`, "squeue": ""}, store.ErrUnavailable, "killed", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := fakeSlurm(t, c.scripts)
			plan := fakePlan(t, s)
			_, err := s.Submit(t.Context(), plan)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %v with %q", err, c.kind, c.want)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "state", "*"))
			if (len(left) > 0) != c.kept {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Whatever becomes of the answer, one plan is one job.
func TestSubmitIsFoundAgain(t *testing.T) {
	for name, sbatch := range map[string]string{
		"answer lost":   `echo x >> sent; exec /bin/sleep 600`,
		"answer spoilt": `echo x >> sent; echo 'quota exceeded'`,
		"connection":    `echo x >> sent; echo 'Socket timed out on send/recv operation' >&2; exit 1`,
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := fakeSlurm(t, map[string]string{"sbatch": sbatch, "squeue": `[ -e sent ] && ` + line + `; exit 0`})
			plan := fakePlan(t, s)
			for range 2 {
				sub, err := s.Submit(t.Context(), plan)
				if err != nil || sub.JobID != "41" {
					t.Fatalf("%+v, %v", sub, err)
				}
			}
			if sent, _ := os.ReadFile(filepath.Join(dir, "sent")); string(sent) != "x\n" {
				t.Errorf("it was sent %q", sent)
			}
		})
	}
}

// A submission killed after sbatch took the job, and before that was noted, is taken up.
func TestSubmitAfterCrash(t *testing.T) {
	s, dir := fakeSlurm(t, map[string]string{"sbatch": `echo x >> sent; echo 41`, "squeue": `[ -e sent ] && ` + line + `; exit 0`})
	plan := fakePlan(t, s)
	request, err := requestOf(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(request.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.intend(plan, request); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Status(t.Context(), plan.Handle); err != nil || status.State != tracker.Lost && status.State != tracker.Submitted {
		t.Errorf("before it was sent: %+v, %v", status, err)
	}
	for range 3 { // the first is sent, since Slurm knows none; the note of it is lost
		if _, err := s.Submit(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(jobDir(request.Dir).file("submitted.json"), submitted{Handle: plan.Handle, Launch: plan.Launch}); err != nil {
			t.Fatal(err)
		}
	}
	if sent, _ := os.ReadFile(filepath.Join(dir, "sent")); string(sent) != "x\n" {
		t.Errorf("it was sent %q", sent)
	}
}

// What Slurm says, what the nodes wrote, and what is made of both.
func TestStatusOfBoth(t *testing.T) {
	const unknown = `echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1`
	show := func(fields string) string {
		return `echo 'JobId=41 JobName=x UserId=ann(7) ` + fields + ` Restarts=0 ExitCode=3:0 SubmitTime=2026-11-21T20:38:30 EndTime=2026-11-21T20:39:30 NodeList=n1 Command=x'`
	}
	ran := func(state tracker.State, change func(*attempt)) *attempt {
		a := &attempt{Number: 1, State: state, Started: time.Now(), Ended: time.Now()}
		if state == tracker.Running {
			a.Ended = time.Time{}
		}
		if change != nil {
			change(a)
		}
		return a
	}
	retry := func(a *attempt) { a.Requeue = true }
	for name, c := range map[string]struct {
		scontrol, sacct string
		last            *attempt
		wished          bool
		want            tracker.State
		err             error
	}{
		"waits":                              {show("JobState=PENDING Reason=Resources"), "", nil, false, tracker.Pending, nil},
		"configures":                         {show("JobState=CONFIGURING Reason=None"), "", nil, false, tracker.Pending, nil},
		"runs":                               {show("JobState=RUNNING Reason=None"), "", ran(tracker.Running, nil), false, tracker.Running, nil},
		"succeeded, nobody is asked":         {"exit 9", "", ran(tracker.Succeeded, nil), false, tracker.Succeeded, nil},
		"failed":                             {show("JobState=FAILED Reason=NonZeroExitCode"), "", ran(tracker.Failed, nil), false, tracker.Failed, nil},
		"failed, and Slurm starts it again":  {show("JobState=PENDING Reason=BeginTime"), "", ran(tracker.Failed, nil), false, tracker.Pending, nil},
		"a retry is due":                     {show("JobState=COMPLETING Reason=None"), "", ran(tracker.Failed, retry), false, tracker.Pending, nil},
		"a retry that never came":            {unknown, "exit 1", ran(tracker.Failed, retry), false, tracker.Failed, nil},
		"limit":                              {show("JobState=TIMEOUT Reason=TimeLimit"), "", ran(tracker.Running, nil), false, tracker.Failed, nil},
		"no memory":                          {show("JobState=OUT_OF_MEMORY Reason=OutOfMemory"), "", ran(tracker.Running, nil), false, tracker.Failed, nil},
		"cancelled by another":               {show("JobState=CANCELLED Reason=None"), "", ran(tracker.Running, nil), false, tracker.Cancelled, nil},
		"cancelled while it waited":          {show("JobState=CANCELLED Reason=None"), "", nil, true, tracker.Cancelled, nil},
		"Slurm says COMPLETED, nobody else":  {show("JobState=COMPLETED Reason=None"), "", ran(tracker.Running, nil), false, tracker.Lost, nil},
		"Slurm says COMPLETED, nothing ran":  {show("JobState=COMPLETED Reason=None"), "", nil, false, tracker.Lost, nil},
		"set-up failed":                      {show("JobState=FAILED Reason=NonZeroExitCode"), "", nil, false, tracker.Failed, nil},
		"purged, it said":                    {unknown, "exit 1", ran(tracker.Failed, nil), false, tracker.Failed, nil},
		"purged, it did not say":             {unknown, "exit 1", ran(tracker.Running, nil), false, tracker.Lost, nil},
		"purged, it never ran":               {unknown, "exit 1", nil, false, tracker.Lost, nil},
		"purged, it was to end":              {unknown, "exit 1", nil, true, tracker.Cancelled, nil},
		"purged, accounting knows":           {unknown, `echo '41|TIMEOUT|0:0|2026-11-21T20:38:30|2026-11-21T20:38:31|2026-11-21T20:39:30|ann|n1||x'`, ran(tracker.Running, nil), false, tracker.Failed, nil},
		"purged, accounting is off":          {unknown, `echo 'Slurm accounting storage is disabled' >&2; exit 1`, ran(tracker.Running, nil), false, tracker.Lost, nil},
		"the controller is down":             {`echo 'Unable to contact slurm controller' >&2; exit 1`, "", ran(tracker.Running, nil), false, "", store.ErrUnavailable},
		"the controller is down, long after": {`echo 'Unable to contact slurm controller' >&2; exit 1`, "", ran(tracker.Failed, func(a *attempt) { a.Ended = time.Now().Add(-time.Hour) }), false, tracker.Failed, nil},
		"garbage":                            {`echo hello`, "", ran(tracker.Running, nil), false, "", store.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := fakeSlurm(t, map[string]string{"sbatch": "echo 41", "scontrol": c.scontrol, "sacct": c.sacct, "squeue": "exit 0"})
			plan := fakePlan(t, s)
			if _, err := s.Submit(t.Context(), plan); err != nil {
				t.Fatal(err)
			}
			a, err := s.open(plan.Handle)
			if err != nil {
				t.Fatal(err)
			}
			if c.last != nil {
				err = writeJSON(a.dir.attemptFile(1), c.last)
			}
			if c.wished && err == nil {
				err = writeJSON(a.dir.file("stopped.json"), stopped{Time: time.Now()})
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from what was kept
				status, err := s.Status(context.Background(), plan.Handle)
				if status.State != c.want || !errors.Is(err, c.err) {
					t.Errorf("%s (%s), %v, want %s, %v", status.State, status.Message, err, c.want, c.err)
				}
			}
		})
	}
}

// What was once found out with Slurm's help is known when Slurm has forgotten it.
func TestVerdictOutlivesSlurm(t *testing.T) {
	s, dir := fakeSlurm(t, map[string]string{"sbatch": "echo 41", "scontrol": `echo 'JobId=41 JobName=x UserId=ann(7) JobState=TIMEOUT Reason=TimeLimit EndTime=2026-11-21T20:39:30 Command=x'`})
	plan := fakePlan(t, s)
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	first, err := s.Status(t.Context(), plan.Handle)
	if err != nil || first.State != tracker.Failed {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := os.Remove(filepath.Join(dir, "scontrol")); err != nil {
		t.Fatal(err)
	}
	again, err := s.Status(t.Context(), plan.Handle)
	if err != nil || again.State != tracker.Failed || again.Message != first.Message || !strings.Contains(again.Message, "TIMEOUT") {
		t.Errorf("%+v, %v", again, err)
	}
}
