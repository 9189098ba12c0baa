//go:build linux

package process

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubborn ignores SIGTERM together with all it starts: a child in its group, one
// in a session of its own, and one whose parent is gone.
const stubborn = `trap "" TERM
sleep 600 &
setsid sleep 600 &
(setsid sh -c 'sleep 600 & sleep 600' &)
echo ready
wait`

func TestGraceThenKillOfTheWholeTree(t *testing.T) {
	spec := shell(t, stubborn)
	spec.Grace = 200 * time.Millisecond
	out := newExpect()
	spec.Stdout = out
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		out.wait(t, "ready")
		cancel()
	}()
	exit, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.Drain(time.Minute)
	if exit.Signal != "SIGKILL" || exit.Code != 137 || exit.Stop != "cancel" || !exit.Killed || len(exit.Survivors) != 0 {
		t.Errorf("got %+v", exit)
	}
	if took := exit.Ended.Sub(exit.Started); took < spec.Grace {
		t.Errorf("killed after %s, before the grace time", took)
	}
	if left := marked(t, spec.Mark); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

func TestGracefulEnd(t *testing.T) {
	spec := shell(t, `trap 'echo saving; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
	out := newExpect()
	spec.Stdout = out
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		out.wait(t, "ready")
		cancel()
	}()
	exit, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.Drain(time.Minute)
	if exit.Code != 3 || exit.Signal != "" || exit.Stop != "cancel" || exit.Killed {
		t.Errorf("got %+v", exit)
	}
	if got := readLog(t, spec, stdoutLog); got != "ready\nsaving\n" {
		t.Errorf("log %q", got)
	}
}

func TestLeftBehindIsEnded(t *testing.T) {
	spec := shell(t, `setsid sleep 600 & sleep 600 & echo done`)
	exit := run(t, spec)
	if exit.Code != 0 || exit.Left != 2 || exit.Stop != "" {
		t.Errorf("got %+v, want 2 left and code 0", exit)
	}
	if left := marked(t, spec.Mark); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

func TestHelperMayFinishAfterTheJob(t *testing.T) {
	spec := shell(t, `(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo late) & echo early`)
	exit := run(t, spec)
	if exit.Left != 0 {
		t.Errorf("ended %d that would have gone by themselves", exit.Left)
	}
	if got := readLog(t, spec, combinedLog); got != "early\nlate\n" {
		t.Errorf("log %q", got)
	}
}

// An escaped process, of which nothing tells that it is the job's, may hold the
// pipes open; the end of the job does not wait for it.
func TestEscapedProcessDoesNotBlockTheEnd(t *testing.T) {
	spec := shell(t, `setsid env -i /bin/sh -c 'echo $$; exec sleep 600' & wait; exit 4`)
	spec.Args[2] = `(setsid env -i /bin/sh -c 'echo $$; exec sleep 600' &) ; while [ ! -s "$OUT" ]; do sleep 0.01; done; exit 4`
	spec.Env = append(spec.Env, "OUT="+filepath.Join(spec.LogDir, stdoutLog))
	exit := run(t, spec)
	var pid int
	if _, err := fmt.Sscan(readLog(t, spec, stdoutLog), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the escaped process was not there: %v", err)
	}
	if exit.Code != 4 {
		t.Errorf("got %+v", exit)
	}
}

// One that left in every way, its session, its environment and its parent, is
// found where orphans fall to us.
func TestOrphanIsEnded(t *testing.T) {
	spec := shell(t, `(setsid env -i /bin/sh -c '(trap "" TERM; /bin/sleep 601.25; :)&' &) ; sleep 0.2; exit 4`)
	spec.Orphans = &Orphans{}
	cmd, out := launcher(t, spec)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, out)
	}
	if exit := lastExit(t, out); exit.Code != 4 || exit.Left == 0 || len(exit.Survivors) > 0 {
		t.Errorf("got %+v", exit)
	}
	if left := saying(t, "601.25"); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

// saying lists the living processes that have that argument.
func saying(t *testing.T, arg string) (pids []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(line), "\x00"), arg) {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// Trees of three levels, of processes that each may ignore SIGTERM, lead a session,
// be nobody's child, or have lost their environment, are gone after the grace time.
func TestKillTrees(t *testing.T) {
	rounds := 25
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 500
	}
	for i := range rounds {
		arg := fmt.Sprintf("600.%d%07d", os.Getpid(), i)
		spec := shell(t, treeScript(3, arg)+"\necho ready; wait; sleep 600")
		spec.Orphans, spec.Grace = &Orphans{}, 100*time.Millisecond
		cmd, out := launcher(t, spec)
		out.wait(t, "ready")
		time.Sleep(rand.N(20 * time.Millisecond)) // at any moment of its growth
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, out)
		}
		if left := append(saying(t, arg), marked(t, spec.Mark)...); len(left) > 0 {
			t.Fatalf("round %d: survivors %v of %s", i, left, spec.Args[2])
		}
		if exit := lastExit(t, out); len(exit.Survivors) > 0 {
			t.Fatalf("round %d: %+v", i, exit)
		}
	}
}

// treeScript is a random tree of shells, which end in sleeps of that argument.
func treeScript(levels int, arg string) string {
	var b strings.Builder
	if rand.IntN(3) > 0 {
		b.WriteString(`trap "" TERM; `)
	}
	for range 1 + rand.IntN(2) {
		inner := "exec /bin/sleep " + arg
		if levels > 1 {
			inner = treeScript(levels-1, arg) + "; /bin/sleep " + arg
		}
		quoted := "'" + strings.ReplaceAll(inner, "'", `'\''`) + "'"
		start := []string{"/bin/sh -c ", "/usr/bin/setsid /bin/sh -c ", "/usr/bin/env -i /bin/sh -c ", "/usr/bin/setsid /usr/bin/env -i /bin/sh -c "}[rand.IntN(4)]
		if rand.IntN(2) == 0 {
			fmt.Fprintf(&b, "(%s%s &) ; ", start, quoted)
		} else {
			fmt.Fprintf(&b, "%s%s & ", start, quoted)
		}
	}
	return b.String() + ":"
}

func TestSignalsArePassedOn(t *testing.T) {
	// Each signal is counted by the job; a duplicate would be counted twice.
	const job = `
trap 'echo got INT' INT; trap 'echo got HUP' HUP; trap 'echo got QUIT' QUIT
trap 'echo got USR1' USR1
sleep 600 &
trap 'grep -q "State:.S" /proc/$!/status && echo child alive; echo got USR2' USR2
trap 'echo got TERM; exit 9' TERM
echo ready; while :; do sleep 0.01; done`
	spec := shell(t, job)
	cmd, out := launcher(t, spec)
	out.wait(t, "ready")
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		out.wait(t, "got "+strings.TrimPrefix(signalName(sig), "SIG")+"\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	exit := lastExit(t, out)
	if exit.Code != 9 || exit.Signal != "" || exit.Stop != "SIGTERM" || exit.Killed {
		t.Errorf("got %+v", exit)
	}
	if !strings.Contains(out.String(), "child alive") {
		t.Error("SIGUSR1 reached a child, who knows nothing of it")
	}
	for _, name := range []string{"INT", "HUP", "QUIT", "USR1", "USR2", "TERM"} {
		if n := strings.Count(readLog(t, spec, stdoutLog), "got "+name+"\n"); n != 1 {
			t.Errorf("%s reached the job %d times", name, n)
		}
	}
}

func lastExit(t *testing.T, out *expect) (exit Exit) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &exit); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return exit
}

func TestIgnoredSignalStaysIgnored(t *testing.T) {
	spec := shell(t, `grep SigIgn /proc/self/status; echo ready; while [ ! -e "$GO" ]; do sleep 0.01; done`)
	stop := filepath.Join(t.TempDir(), "go")
	spec.Env = append(spec.Env, "GO="+stop)
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	out := newExpect()
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", launcherVar, text))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "ready")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if exit := lastExit(t, out); exit.Code != 0 || exit.Stop != "" {
		t.Errorf("got %+v", exit)
	}
	var ignored uint64
	if _, err := fmt.Sscanf(out.String(), "SigIgn:\t%x", &ignored); err != nil || ignored&1 == 0 {
		t.Errorf("the job does not ignore SIGHUP: %s, %v", out, err)
	}
}

// A suspended launcher suspends the job, and resumes it.
func TestSuspend(t *testing.T) {
	spec := shell(t, `echo pid $$; while [ ! -e "$GO" ]; do sleep 0.01; done`)
	stop := filepath.Join(t.TempDir(), "go")
	spec.Env = append(spec.Env, "GO="+stop)
	cmd, out := launcher(t, spec)
	out.wait(t, "\n")
	var job int
	if _, err := fmt.Sscanf(out.String(), "pid %d", &job); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	waitState(t, cmd.Process.Pid, 'T')
	waitState(t, job, 'T')
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if exit := lastExit(t, out); exit.Code != 0 {
		t.Errorf("got %+v", exit)
	}
}

func waitState(t *testing.T, pid int, want byte) {
	t.Helper()
	poll(t, func() bool {
		s, ok := readStat(pid)
		return ok && s.state == want
	})
}

// TestKillOfTheLauncher kills it with -9 at any moment: nothing of the job stays.
func TestKillOfTheLauncher(t *testing.T) {
	rounds := 10
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 200
	}
	for i := range rounds {
		spec := shell(t, stubborn)
		cmd, out := launcher(t, spec)
		if i%2 == 0 {
			out.wait(t, "ready")
		}
		time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		if cmd.ProcessState.Exited() {
			t.Errorf("the launcher ended by itself: %v", cmd.ProcessState)
		}
		waitGone(t, spec.Mark)
	}
}

// Without a guard the process itself still goes with the launcher.
func TestKillOfTheLauncherWithoutGuard(t *testing.T) {
	t.Setenv(unguardVar, "1")
	spec := shell(t, `echo ready; exec sleep 600`)
	cmd, out := launcher(t, spec)
	out.wait(t, "ready")
	poll(t, func() bool { // until the guard has gone
		guards, _ := exec.Command("pgrep", "-P", fmt.Sprint(cmd.Process.Pid), "-f", "heirloom-guard").Output()
		return len(guards) == 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waitGone(t, spec.Mark)
}
