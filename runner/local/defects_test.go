//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// What TorchX's local scheduler gets wrong, one by one, each by the test that fails
// there. TestDefectsOfTorchX runs them.

func linesOf(t *testing.T, s *Scheduler, h runner.Handle, q runner.LogQuery) (lines []string) {
	t.Helper()
	for line, err := range s.Logs(t.Context(), h, q) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line.Text)
	}
	return lines
}

// await looks until it is so, however busy the machine is.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	await(t, file, func() bool {
		body, _ := os.ReadFile(file)
		n, _ := fmt.Sscanf(string(body), "%d\n", &pid)
		return n == 1 && strings.HasSuffix(string(body), "\n")
	})
	return pid
}

func living(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// 1: TorchX yields pieces of lines.
func linesAreWhole(t *testing.T) {
	s := newScheduler(t)
	h := submitted(t, s, shRole("sh", 1, `printf abc; sleep 0.3; printf def; sleep 0.3; echo; printf ghi`))
	if got := linesOf(t, s, h, runner.LogQuery{Tail: true, Stream: runner.Stdout}); !slices.Equal(got, []string{"abcdef\n", "ghi"}) {
		t.Errorf("got %q", got)
	}
	if got := linesOf(t, s, h, runner.LogQuery{}); !slices.Equal(got, []string{"abcdef\n", "ghi\n"}) { // where a line ends one that has no end
		t.Errorf("got %q", got)
	}
}

// 2 and 5: TorchX kills the leader alone, and blocks while it does.
func cancelEndsTheTreeAndReturnsAtOnce(t *testing.T) {
	s := newScheduler(t)
	dir := t.TempDir()
	h := submitted(t, s, shRole("sh", 1, `trap "" TERM; cd `+dir+`; (setsid sh -c 'trap "" TERM; echo $$ > far; exec sleep 600' &) ; sh -c 'trap "" TERM; echo $$ > near; exec sleep 600' & wait`))
	pids := []int{pidIn(t, filepath.Join(dir, "far")), pidIn(t, filepath.Join(dir, "near"))}
	const grace = 10 * time.Second
	begun := time.Now()
	if err := s.Cancel(t.Context(), h, runner.CancelOptions{Grace: grace}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > grace {
		t.Errorf("cancel took %s", took)
	}
	if status := waited(t, s, h); status.State != tracker.Cancelled {
		t.Errorf("got %+v", status)
	}
	for _, pid := range pids {
		if living(pid) {
			t.Errorf("process %d survived", pid)
		}
	}
}

// 3: to look at an app changes nothing; TorchX signals its old process group.
func statusOnlyLooks(t *testing.T) {
	s := newScheduler(t)
	h := submitted(t, s, shRole("sh", 1, "exit 3"))
	waited(t, s, h)
	l, err := s.newest(h)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(l.path(endFile))
	for range 5 {
		if status, err := s.Status(t.Context(), h); err != nil || status.State != tracker.Failed || status.ExitCode() != 3 {
			t.Errorf("got %+v, %v", status, err)
		}
	}
	if after, _ := os.Stat(l.path(endFile)); !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the record of the end was written again")
	}
}

// 4: a file in the working directory is no program, unless that is asked for.
func workingDirectoryIsNotInPath(t *testing.T) {
	s := newScheduler(t)
	for _, c := range []struct {
		cfg  runner.Config
		want string
	}{{nil, "right\n"}, {runner.Config{"prepend_cwd": true}, "hijacked\n"}} {
		plan, err := planned(t, s, c.cfg, runner.Role{Name: "a", NumReplicas: 1, Entrypoint: "env", Args: []string{"echo", "right"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(plan.Dir, "env"), []byte("#!/bin/sh\necho hijacked\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Submit(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		waited(t, s, plan.Handle)
		if got := linesOf(t, s, plan.Handle, runner.LogQuery{}); !slices.Equal(got, []string{c.want}) {
			t.Errorf("with %v: %q", c.cfg, got)
		}
	}
}

// 6: a replica that cannot start leaves none of those before it.
func failedStartLeavesNothing(t *testing.T) {
	s := newScheduler(t)
	plan, err := planned(t, s, nil, shRole("a", 2, "exec sleep 600"), runner.Role{Name: "b", NumReplicas: 1, Entrypoint: "no-such-program"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), plan); !errors.Is(err, runner.ErrNotFound) || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(s.opts.StateDir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// 7: TorchX writes outside of its directory for such names.
func namesStayInside(t *testing.T) {
	s := newScheduler(t)
	for _, name := range []string{"../../x", "a/b", "..", "a\nb", ""} {
		r, err := runner.New("", []runner.Backend{{Name: Name, Open: func(context.Context) (runner.Scheduler, error) { return s, nil }}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, app := range []runner.App{{Name: name, Roles: []runner.Role{shRole("a", 1, ":")}}, {Name: "a", Roles: []runner.Role{shRole(name, 1, ":")}}} {
			if _, err := r.Plan(t.Context(), runner.Request{App: app, Dir: t.TempDir()}); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, odd := range []string{"..", "...", "%2e%2e", "a b", "-x"} { // as handles that somebody made up
		if dir := s.appDir(runner.Handle{Scheduler: Name, Session: "..", App: odd}); filepath.Dir(dir) != s.opts.StateDir {
			t.Errorf("%q lies in %s", odd, dir)
		}
	}
}

// 8: another process sees state, exit code, logs and list, and may end the app.
// TorchX knows an app only in the process that started it.
func seenFromElsewhere(t *testing.T) {
	s := newScheduler(t)
	role := shRole("a", 1, `n=$HEIRLOOM_ATTEMPT; echo out $n; echo err $n >&2; [ $n = 2 ] && exit 6; exit 5`)
	role.MaxRetries = 1
	h := submitted(t, s, role)
	other, err := New(testOptions(s.opts.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	status := waited(t, other, h)
	if status.State != tracker.Failed || status.ExitCode() != 6 || status.NumRestarts != 1 || len(status.Roles) != 1 || status.Roles[0].Replicas[0].Attempt != 2 {
		t.Errorf("got %+v", status)
	}
	if got := linesOf(t, other, h, runner.LogQuery{Stream: runner.Stderr}); !slices.Equal(got, []string{"err 1\n", "err 2\n"}) {
		t.Errorf("got %q", got)
	}
	found := 0
	for e, err := range other.List(t.Context(), runner.ListQuery{}) {
		if err != nil || e.Handle != h || e.State != tracker.Failed {
			t.Errorf("listed %+v, %v", e, err)
		}
		found++
	}
	if found != 1 {
		t.Errorf("listed %d", found)
	}
}

// 8, continued: a supervisor that is killed leaves no process and no false word.
func killedSupervisorIsLost(t *testing.T) {
	s := newScheduler(t)
	dir := t.TempDir()
	h := submitted(t, s, shRole("a", 1, `echo $$ > `+dir+`/pid; exec sleep 600`))
	pid := pidIn(t, filepath.Join(dir, "pid"))
	status, err := s.Status(t.Context(), h)
	if err != nil || status.State != tracker.Running {
		t.Fatalf("got %+v, %v", status, err)
	}
	var super int
	if _, err := fmt.Sscan(status.JobID, &super); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(super, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	status = waited(t, s, h)
	if status.State != tracker.Lost || status.ExitCode() != runner.NoExitCode || status.Roles[0].Replicas[0].State != tracker.Lost {
		t.Errorf("got %+v", status)
	}
	await(t, "the end of the job", func() bool { return !living(pid) })
}

// 9, in part: --log_dir cannot be removed by us, since logs are the run's; delete
// forgets an app and leaves them.
func deleteLeavesTheLogs(t *testing.T) {
	s := newScheduler(t)
	plan, err := planned(t, s, nil, shRole("a", 1, "echo kept"))
	if err != nil {
		t.Fatal(err)
	}
	plan.Recording.Store = t.TempDir()
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	waited(t, s, plan.Handle)
	d, err := s.Describe(t.Context(), plan.Handle)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), plan.Handle, runner.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(filepath.Join(d.LogDir, "a", "0", "1", "combined.log")); string(body) != "kept\n" {
		t.Errorf("the log: %q, %v", body, err)
	}
	if _, err := s.Status(t.Context(), plan.Handle); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if exists(s.appDir(plan.Handle)) {
		t.Error("the state stays")
	}
}

func TestGPUs(t *testing.T) {
	options := testOptions(stateDir(t))
	options.GPUs = func(context.Context) ([]string, error) { return []string{"0", "1", "2", "3"}, nil }
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	role := shRole("a", 2, `test "$CUDA_VISIBLE_DEVICES" = "$WANT" && echo "$CUDA_VISIBLE_DEVICES"`)
	role.Resource.GPU = 1
	role.Env = map[string]string{"WANT": "${replica_id}"}
	other := shRole("b", 1, `test "$CUDA_VISIBLE_DEVICES" = 2,3`)
	other.Resource.GPU = 2
	cfg := runner.Config{"auto_set_cuda_visible_devices": true}
	plan, err := planned(t, s, cfg, role, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if status := waited(t, s, plan.Handle); status.State != tracker.Succeeded {
		t.Errorf("got %+v", status)
	}
	other.Resource.GPU = 3
	if _, err := planned(t, s, cfg, role, other); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "5 GPUs") {
		t.Errorf("got %v", err)
	}
}

// Limits are refused, not passed over, where they cannot be kept.
func TestLimitsAreRefused(t *testing.T) {
	s := newScheduler(t)
	role := shRole("a", 1, ":")
	role.Resource.MemMB = 100
	for _, group := range []string{"none", t.TempDir()} {
		_, err := planned(t, s, runner.Config{"enforce_resources": true, "cgroup": group}, role)
		if !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), group) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := planned(t, s, runner.Config{"cgroup": t.TempDir()}, role); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("of what is no control group: got %v", err)
	}
	if _, err := planned(t, s, runner.Config{"cgroup": "none"}, role); err != nil {
		t.Errorf("without: %v", err)
	}
}
