//go:build unix

package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fakeArray is an array of four tasks, of which Slurm says these states.
func fakeArray(t *testing.T, states ...string) (*Scheduler, *app) {
	t.Helper()
	var said []string
	for id, state := range states {
		said = append(said, fmt.Sprintf(`echo 'JobId=%d ArrayJobId=41 ArrayTaskId=%d JobName=x UserId=ann(7) JobState=%s Reason=None Command=x'`, 50+id, id, state))
	}
	s, _ := fakeSlurm(t, map[string]string{"sbatch": "echo 41", "scontrol": strings.Join(said, "\n")})
	plan := planned(appOf("sweep", runner.Role{Name: "r", Entrypoint: "sh", NumReplicas: 1}), runner.Config{"program": "/opt/heirloom", "array": "0-3"})
	if err := s.Prepare(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	a, err := s.open(plan.Handle)
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// ran writes what a task leaves that ended with a code so long after the epoch.
func ran(t *testing.T, a *app, id string, code, second int) {
	t.Helper()
	dir, state, at := a.base.task(id), tracker.Failed, time.Unix(int64(second), 0).UTC()
	if code == 0 {
		state = tracker.Succeeded
	}
	err := writeJSON(dir.attemptFile(1), attempt{Number: 1, State: state, Started: at, Ended: at, ExitCode: code})
	if err == nil {
		err = writeJSON(dir.replicaFile(1, "r", 0), runner.ReplicaExit{Role: "r", Attempt: 1, State: state, PID: 7, ExitCode: code, Started: at, Ended: at})
	}
	log := dir.logDir("r", 0, 1)
	if err == nil {
		err = os.MkdirAll(log, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(log, "combined.log"), []byte("task "+id+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An array ends as its first task that failed, and shows all of them.
func TestArrayTellsOfItsTasks(t *testing.T) {
	s, a := fakeArray(t, "COMPLETED", "FAILED", "FAILED", "FAILED")
	ran(t, a, "0", 0, 10)
	ran(t, a, "1", 5, 40)
	ran(t, a, "2", 6, 20)
	ran(t, a, "3", 7, 30)
	status, err := s.Status(t.Context(), a.handle)
	if err != nil || status.State != tracker.Failed || status.ExitCode() != 6 {
		t.Errorf("%+v, %v", status, err)
	}
	var tasks []string
	for _, role := range status.Roles {
		tasks = append(tasks, role.Task+"/"+role.Role+"="+role.Replicas[0].Task+string(role.Replicas[0].State))
	}
	if want := []string{"0/r=0SUCCEEDED", "1/r=1FAILED", "2/r=2FAILED", "3/r=3FAILED"}; !slices.Equal(tasks, want) {
		t.Errorf("tasks %q, want %q", tasks, want)
	}
	if text := status.Err().Error(); !strings.Contains(text, "task 2, r[0] exited with 6") {
		t.Errorf("its error is %q", text)
	}
	if got, want := arrayLines(t.Context(), t, s, a, runner.LogQuery{}), []string{"0 r task 0\n", "1 r task 1\n", "2 r task 2\n", "3 r task 3\n"}; !slices.Equal(got, want) {
		t.Errorf("its log is %q, want %q", got, want)
	}
}

// Logs are followed over tasks that begin while they are.
func TestArrayIsFollowed(t *testing.T) {
	s, a := fakeArray(t, "RUNNING", "PENDING")
	ran(t, a, "0", 0, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for line, err := range s.Logs(ctx, a.handle, runner.LogQuery{Tail: true}) {
		if err != nil {
			break
		}
		if got = append(got, line.Task+" "+line.Text); len(got) == 1 {
			ran(t, a, "1", 0, 20)
		} else {
			cancel()
		}
	}
	if want := []string{"0 task 0\n", "1 task 1\n"}; !slices.Equal(got, want) {
		t.Errorf("followed %q, want %q", got, want)
	}
}

// arrayLines are the lines of an array's log, each with its task and role, sorted.
func arrayLines(ctx context.Context, t *testing.T, s *Scheduler, a *app, query runner.LogQuery) (lines []string) {
	t.Helper()
	for line, err := range s.Logs(ctx, a.handle, query) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line.Task+" "+line.Role+" "+line.Text)
	}
	slices.Sort(lines)
	return lines
}
