package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestOnACluster(t *testing.T) {
	cluster := servers.StartSlurm(t, nil)
	for name, test := range map[string]func(*testing.T, *lab){
		"own script": ownScript, "array": arrayOfRuns, "scancel": cancelledByScancel, "set-up": setUp, "cancel while it waits": cancelPending,
		"role's place": rolesPlace, "retry": retryWaits,
	} {
		t.Run(name, func(t *testing.T) { test(t, newLab(t, cluster)) })
	}
}

// A user's script runs as it is: its directives hold, srun is its own, its output goes
// where it says, and the run is recorded.
func ownScript(t *testing.T, l *lab) {
	dir := t.TempDir()
	body := "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --job-name=mine\n#SBATCH --output=" + dir + "/mine-%j.out\n\nsrun -N2 sh -c 'echo hello $SLURMD_NODENAME'\necho \"args $*\"\necho x > $HEIRLOOM_OUTPUT_DIR/made.txt\nexit 4\n"
	file := filepath.Join(dir, "train.sbatch")
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	role := runner.Role{Name: "script", Entrypoint: file, Args: []string{"a b", "c"}, NumReplicas: 1}
	h := l.submit(appOf("train", role), runner.Config{"script": file})
	status := l.wait(h)
	if status.State != tracker.Failed || status.ExitCode() != 4 {
		t.Fatalf("%+v", status)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "mine-*.out"))
	if len(files) != 1 {
		t.Fatalf("its output is in %v", files)
	}
	said, _ := os.ReadFile(files[0])
	log := ""
	for line, err := range l.r.Logs(t.Context(), h, runner.LogQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		log += line.Text
	}
	for _, text := range []string{string(said), log} {
		if strings.Count(text, "hello n") != 2 || !strings.Contains(text, "args a b c\n") {
			t.Errorf("it printed %q", text)
		}
	}
	if run := l.recorded(h.RunID()); run.State != tracker.Failed || len(run.Artifacts) != 1 || run.Metadata.Text(tracker.KeyName) != "train" {
		t.Errorf("recorded: %+v", run)
	}
}

func arrayOfRuns(t *testing.T, l *lab) {
	h := l.submit(appOf("sweep", shell("r", `echo "task $SLURM_ARRAY_TASK_ID"; exit $SLURM_ARRAY_TASK_ID`, 1)), runner.Config{"array": "0-2"})
	status := l.wait(h)
	if status.State != tracker.Failed || !strings.Contains(status.Message, "2 FAILED") || !strings.Contains(status.Message, "1 SUCCEEDED") {
		t.Errorf("the array: %+v", status)
	}
	for task, want := range map[string]tracker.State{"0": tracker.Succeeded, "1": tracker.Failed, "2": tracker.Failed} {
		one := h
		one.App += "_" + task
		status := l.wait(one)
		if status.State != want || status.Handle != one || status.Replica("r", 0).Code() != int(task[0]-'0') {
			t.Errorf("task %s: %+v", task, status)
		}
		run := l.recorded(one.RunID())
		if run.State != want || len(run.Attempts) != 1 {
			t.Errorf("task %s is recorded as %+v", task, run)
		}
		sources, err := l.tracker.Sources(t.Context(), one.RunID(), "")
		if err != nil || len(sources) != 1 || sources[0].ID != h.RunID() {
			t.Errorf("the parent of task %s: %+v, %v", task, sources, err)
		}
	}
}

// What is cancelled by Slurm's own command ends as what is cancelled by ours.
func cancelledByScancel(t *testing.T, l *lab) {
	here := filepath.Join(t.TempDir(), "here")
	h := l.submit(appOf("long", shell("r", `trap 'echo told > "$HEIRLOOM_OUTPUT_DIR/told-$HEIRLOOM_REPLICA"; exit 1' TERM; echo x >> `+here+`; while :; do sleep 0.1; done`, 2)), nil)
	l.until("both run", func() bool { b, _ := os.ReadFile(here); return len(b) == 4 })
	status, err := l.r.Status(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	l.Run("scancel", status.JobID)
	status = l.wait(h)
	if status.State != tracker.Cancelled {
		t.Errorf("%+v", status)
	}
	run := l.recorded(h.RunID())
	l.until("the end is recorded", func() bool { run = l.recorded(h.RunID()); return run.State != tracker.Running })
	if run.State != tracker.Cancelled {
		t.Errorf("recorded: %s, %+v", run.State, run.Attempts)
	}
	if len(run.Artifacts) != 2 {
		t.Errorf("the replicas could not tidy up: %+v", run.Artifacts)
	}
}

// Set-up lines reach the replicas, and one that fails fails the job before they start.
func setUp(t *testing.T, l *lab) {
	h := l.submit(appOf("setup", shell("r", `test "$FROM_SETUP" = "a b"`, 1)), runner.Config{"setup": []string{`export FROM_SETUP="a b"`}})
	if status := l.wait(h); status.State != tracker.Succeeded {
		t.Errorf("%+v", status)
	}
	h = l.submit(appOf("setup", shell("r", "true", 1)), runner.Config{"setup": []string{"module_that_is_not load cuda"}})
	if status := l.wait(h); status.State != tracker.Failed || !strings.Contains(status.Message, "127") || !strings.Contains(status.Message, "slurm-") {
		t.Errorf("%+v", status)
	}
}

func cancelPending(t *testing.T, l *lab) {
	h := l.submit(appOf("waits", shell("r", "true", 1)), runner.Config{"sbatch_args": []string{"--begin=now+1hour"}})
	status, err := l.r.Status(t.Context(), h)
	if err != nil || status.State != tracker.Pending || status.Message != "BeginTime" {
		t.Errorf("%+v, %v", status, err)
	}
	if err := l.r.Cancel(t.Context(), h, nil); err != nil {
		t.Fatal(err)
	}
	if status := l.wait(h); status.State != tracker.Cancelled {
		t.Errorf("%+v", status)
	}
}

// Slurm's own reader of directives understands what stands in them.
func rolesPlace(t *testing.T, l *lab) {
	role := shell("r", `echo $SLURMD_NODENAME > "$HEIRLOOM_OUTPUT_DIR/node"`, 1)
	h := l.submit(appOf("place", role, shell("other", "true", 1)), runner.Config{"exclude": "n[1-2]", "time": "0-00:05:00", "comment": "it's \"mine\", yes", "ntasks_per_node": 1,
		"nodelist": ""})
	if status := l.wait(h); status.State != tracker.Succeeded {
		t.Fatalf("%+v", status)
	}
	body, err := l.store.Get(t.Context(), l.store.Layout().RunDir(string(h.RunID())).Join("node"))
	if node := string(body); err != nil || node != "n3\n" && node != "n4\n" {
		t.Errorf("it ran on %q, %v", body, err)
	}
}

// Between two attempts a job waits, in Slurm's view and in that of its record.
func retryWaits(t *testing.T, l *lab) {
	role := shell("r", `[ "$HEIRLOOM_ATTEMPT" = 2 ]`, 1)
	role.MaxRetries = 1
	h := l.submit(appOf("retry", role), nil)
	var status runner.AppStatus
	l.until("both say that it waits", func() bool {
		var err error
		status, err = l.r.Status(t.Context(), h)
		run, recordErr := l.tracker.Run(t.Context(), h.RunID())
		return err == nil && recordErr == nil && status.State == tracker.Pending && run.State == tracker.Pending && len(run.Attempts) == 1 &&
			run.Metadata.Text(tracker.KeyState) == string(tracker.Pending)
	})
	if status = l.wait(h); status.State != tracker.Succeeded || status.NumRestarts != 1 {
		t.Errorf("%+v", status)
	}
	if run := l.recorded(h.RunID()); run.State != tracker.Succeeded || len(run.Attempts) != 2 || !run.Attempts[0].End.Requeued || run.Attempts[0].End.State != tracker.Failed {
		t.Errorf("recorded: %s, %+v", run.State, run.Attempts)
	}
}
