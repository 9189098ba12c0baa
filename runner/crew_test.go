//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// shRole is a role of replicas that run a script.
func shRole(name string, replicas int, script string) Role {
	return Role{Name: name, NumReplicas: replicas, Entrypoint: "sh", Args: []string{"-c", script}}
}

func appJob(roles ...Role) Job {
	return Job{App: App{Name: "app", Roles: roles}, Environ: []string{"PATH=" + os.Getenv("PATH")}, Grace: 5 * time.Second}
}

// safeBuilder is written to by several goroutines.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuilder) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func logOf(t *testing.T, l *Launcher, id tracker.RunID, role string, replica, attempt int, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(mustLocal(t, l, id), "logs", role, fmt.Sprint(replica), fmt.Sprint(attempt), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAppOfSeveralRoles(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	job := appJob(
		shRole("master", 1, `echo "$HEIRLOOM_ROLE $HEIRLOOM_REPLICA/$HEIRLOOM_REPLICAS $HEIRLOOM_ATTEMPT $TORCHX_RANK0_HOST id=${app_id} k=${replica_id} env=${rank0_env} $$HOME_OF"`),
		shRole("worker", 2, `echo "$HEIRLOOM_ROLE $HEIRLOOM_REPLICA/$HEIRLOOM_REPLICAS w=$WHO run=$TORCHX_JOB_ID" >&2; test "$HEIRLOOM_RUN_ID" = "$TORCHX_JOB_ID"`))
	job.App.Roles[1].Env = map[string]string{"WHO": "w${replica_id}", "HEIRLOOM_RUN_ID": "mine"}
	var out safeBuilder
	job.Stdout, job.Stderr = &out, &out
	job.Prefix = func(role string, k int) string { return fmt.Sprintf("%s/%d ", role, k) }
	var events []string
	job.OnReplica = func(e ReplicaExit) error {
		events = append(events, fmt.Sprintf("%s/%d %s", e.Role, e.Replica, e.State))
		return nil
	}
	result, run := launched(t, l, job)
	if result.State != tracker.Succeeded || result.ExitCode != 0 || len(result.Warnings) > 0 || len(result.Replicas) != 3 || result.Restarts != 0 {
		t.Fatalf("got %+v", result)
	}
	app := strings.TrimPrefix(string(run.ID), "local://torchx/")
	want := "master 0/1 1 localhost id=" + app + " k=0 env=TORCHX_RANK0_HOST $HOME_OF\n"
	want = strings.Replace(want, "$HOME_OF", "", 1) // $$ is one $, and the shell has no such variable
	if got := logOf(t, l, run.ID, "master", 0, 1, "stdout.log"); got != want {
		t.Errorf("master said %q, want %q", got, want)
	}
	for k := range 2 {
		want := fmt.Sprintf("worker %d/2 w=w%d run=%s\n", k, k, run.ID)
		if got := logOf(t, l, run.ID, "worker", k, 1, "stderr.log"); got != want {
			t.Errorf("worker said %q, want %q", got, want)
		}
		if !strings.Contains(out.String(), fmt.Sprintf("worker/%d %s", k, want)) {
			t.Errorf("shown: %s", &out)
		}
	}
	if len(events) != 6 || !strings.HasSuffix(events[0], "RUNNING") {
		t.Errorf("told of %v", events)
	}
}

func TestRetryPolicies(t *testing.T) {
	// a/0 fails in its first two processes; the others end when it does not.
	const fails = `n=$(cat "$N" 2>/dev/null || echo 0); echo $((n+1)) > "$N"; [ "$n" -ge 2 ] || exit 5; touch "$N.done"`
	const waits = `while [ ! -e "$N.done" ]; do sleep 0.02; done`
	for _, c := range []struct {
		policy   RetryPolicy
		attempts string // of a/0, a/1, b/0 at the end
	}{
		{RetryReplica, "3 1 1"}, {RetryRole, "3 3 1"}, {RetryApplication, "3 3 3"}, {"", "3 3 3"},
	} {
		t.Run("policy "+string(c.policy), func(t *testing.T) {
			l := newLauncher(t, t.TempDir(), nil)
			a := shRole("a", 2, `if [ ${replica_id} = 0 ]; then `+fails+`; else `+waits+`; fi`)
			a.MaxRetries, a.RetryPolicy = 2, c.policy
			b := shRole("b", 1, waits)
			job := appJob(a, b)
			job.Environ = append(job.Environ, "N="+filepath.Join(t.TempDir(), "n"))
			result, run := launched(t, l, job)
			var got []string
			for _, e := range result.Replicas {
				got = append(got, fmt.Sprint(e.Attempt))
			}
			if result.State != tracker.Succeeded || result.Restarts != 2 || strings.Join(got, " ") != c.attempts {
				t.Errorf("got %s and %+v", got, result)
			}
			if len(run.Attempts) != 3 || run.Attempts[0].End.State != tracker.Failed || *run.Attempts[0].End.ExitCode != 5 || run.Attempts[2].End.State != tracker.Succeeded {
				t.Errorf("recorded %+v", run.Attempts)
			}
		})
	}
}

func TestRetriesAreSpent(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	bad := shRole("bad", 1, "echo attempt $$HEIRLOOM_ATTEMPT; exit 9")
	bad.MaxRetries, bad.RetryPolicy = 1, RetryReplica
	result, run := launched(t, l, appJob(shRole("good", 1, "exec sleep 600"), bad))
	if result.State != tracker.Failed || result.ExitCode != 9 || len(run.Attempts) != 2 || run.State != tracker.Failed {
		t.Errorf("got %+v", result)
	}
	if good := result.Replicas[0]; good.State != tracker.Cancelled || good.Signal != "SIGTERM" || good.ExitCode != 143 {
		t.Errorf("the other replica: %+v", good)
	}
	for n := 1; n <= 2; n++ {
		if got := logOf(t, l, run.ID, "bad", 0, n, "combined.log"); got != fmt.Sprintf("attempt %d\n", n) {
			t.Errorf("log of attempt %d: %q", n, got)
		}
	}
}

// A replica that cannot be started ends those before it; TorchX leaves them running.
func TestReplicaThatCannotStart(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var pids []int
	job := appJob(shRole("a", 3, "exec sleep 600"), Role{Name: "b", NumReplicas: 2, Entrypoint: bad})
	job.OnReplica = func(e ReplicaExit) error {
		if e.State == tracker.Running {
			pids = append(pids, e.PID)
		}
		return nil
	}
	result, err := l.Run(t.Context(), job, nil)
	if !errors.Is(err, ErrNotExecutable) || !strings.Contains(err.Error(), "b/0") || result.ExitCode != 126 || result.State != tracker.Failed {
		t.Errorf("got %+v, %v", result, err)
	}
	if len(pids) != 3 {
		t.Errorf("started %v", pids)
	}
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d was left", pid)
		}
	}
}

func TestAppThatCannotBe(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	for name, role := range map[string]Role{
		"no such program": {Name: "a", NumReplicas: 1, Entrypoint: "no-such-program"},
		"slash":           shRole("a/b", 1, ":"),
		"parent":          shRole("..", 1, ":"),
		"newline":         shRole("a\nb", 1, ":"),
		"no replicas":     shRole("a", 0, ":"),
		"no entrypoint":   {Name: "a", NumReplicas: 1},
	} {
		if _, err := l.Run(t.Context(), appJob(shRole("first", 1, "touch /nonexistent/x"), role), nil); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	for id, err := range l.Tracker.RunIDs(t.Context(), "") {
		t.Errorf("recorded %v, %v", id, err)
	}
}

func TestCancelledApp(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	stubborn := shRole("a", 2, `trap "" TERM; echo ready; while :; do sleep 0.02; done`)
	stubborn.MaxRetries = 3
	job := appJob(stubborn, shRole("b", 1, "echo ready; exec sleep 600"))
	job.Grace = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	ready := 0
	job.Stdout = writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if ready += strings.Count(string(b), "ready"); ready == 3 {
			cancel()
		}
		return len(b), nil
	})
	result, err := l.Run(ctx, job, nil)
	if err != nil || result.State != tracker.Cancelled || result.Restarts != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	for i, want := range []string{"SIGKILL", "SIGKILL", "SIGTERM"} {
		if got := result.Replicas[i]; got.State != tracker.Cancelled || got.Signal != want {
			t.Errorf("replica %d: %+v", i, got)
		}
	}
}

func TestReplicaEnv(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	job := appJob(shRole("a", 2, `echo "$CUDA_VISIBLE_DEVICES"`))
	job.ReplicaEnv = func(_ string, k int) (map[string]string, error) {
		return map[string]string{"CUDA_VISIBLE_DEVICES": fmt.Sprintf("%d,%d", 2*k, 2*k+1)}, nil
	}
	_, run := launched(t, l, job)
	for k, want := range []string{"0,1\n", "2,3\n"} {
		if got := logOf(t, l, run.ID, "a", k, 1, "stdout.log"); got != want {
			t.Errorf("replica %d sees %q", k, got)
		}
	}
}

func TestScreen(t *testing.T) {
	var out safeBuilder
	s := &screen{prefix: func(role string, k int) string { return fmt.Sprintf("%s/%d ", role, k) }}
	a, b := s.of(&task{name: "a"}, &out), s.of(&task{name: "b", replica: 1}, &out)
	for _, w := range []struct {
		to   *liner
		text string
	}{
		{a.(*liner), "abc"}, {b.(*liner), "one\ntwo\n"}, {a.(*liner), "def\n10%\r20%\r"}, {b.(*liner), "dos\r"}, {b.(*liner), "\nend"}, {a.(*liner), "done\n"},
	} {
		if n, err := w.to.Write([]byte(w.text)); n != len(w.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	s.end()
	want := "b/1 one\nb/1 two\na/0 abcdef\na/0 10%\rb/1 dos\r\na/0 20%\ra/0 done\nb/1 end\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}
