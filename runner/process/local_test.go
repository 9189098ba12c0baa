//go:build linux

package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	launcherVar = "HEIRLOOM_TEST_LAUNCH"   // makes the test binary a launcher of the Spec it holds
	unguardVar  = "HEIRLOOM_TEST_NO_GUARD" // takes its guard away, as on a machine without a shell
)

// patience is for what will happen, however busy the machine is.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(launcherVar); ok {
		launch(text)
		return
	}
	goleak.VerifyTestMain(m)
}

func launch(text string) {
	var spec Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		panic(err)
	}
	if spec.Orphans != nil {
		var err error
		if spec.Orphans, err = Adopt(); err != nil {
			panic(err)
		}
	}
	if spec.Cgroups != nil {
		var err error
		if spec.Cgroups, err = FindCgroups("", spec.Limits); err != nil {
			panic(err)
		}
	}
	spec.Signals, spec.Stdin, spec.Stdout, spec.Stderr = Catch(), os.Stdin, os.Stdout, os.Stderr
	p, err := Start(spec)
	if err != nil {
		panic(err)
	}
	if os.Getenv(unguardVar) != "" {
		p.guard.Close()
		p.guard = nil
	}
	exit, err := p.Wait(context.Background())
	if err != nil {
		panic(err)
	}
	left, survivors := spec.Orphans.End(context.Background(), p.guard, exit.Stopped.Add(spec.Grace))
	exit.Left, exit.Survivors = exit.Left+left, append(exit.Survivors, survivors...)
	p.Drain(time.Minute)
	spec.Signals.Close()
	_ = json.NewEncoder(os.Stdout).Encode(exit)
}

// shell gives a Spec for a script, marked for this test alone.
func shell(t *testing.T, script string) Spec {
	t.Helper()
	mark := "HEIRLOOM_TEST_MARK=" + t.Name() + t.TempDir()
	return Spec{
		Args:   []string{"sh", "-c", script},
		Env:    []string{"PATH=" + os.Getenv("PATH"), mark},
		LogDir: t.TempDir(),
		Mark:   mark,
	}
}

func run(t *testing.T, spec Spec) Exit {
	t.Helper()
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Drain(time.Minute)
	return exit
}

func readLog(t *testing.T, spec Spec, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(spec.LogDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// expect is a writer one can wait on for a text.
type expect struct {
	mu   sync.Mutex // guards buf
	buf  bytes.Buffer
	more chan struct{}
}

func newExpect() *expect { return &expect{more: make(chan struct{}, 1)} }

func (e *expect) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
	return e.buf.Write(b)
}

func (e *expect) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buf.String()
}

func (e *expect) wait(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for !strings.Contains(e.String(), text) {
		select {
		case <-e.more:
		case <-limit:
			t.Fatalf("no %q in %q", text, e.String())
		}
	}
}

func TestExit(t *testing.T) {
	tests := []struct {
		name, script string
		code         int
		signal       string
	}{
		{"ok", "exit 0", 0, ""},
		{"code", "exit 7", 7, ""},
		{"high code", "exit 143", 143, ""},
		{"TERM by itself", "kill -TERM $$", 143, "SIGTERM"},
		{"KILL by itself", "kill -KILL $$", 137, "SIGKILL"},
		{"SEGV", "kill -SEGV $$", 139, "SIGSEGV"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit := run(t, shell(t, tt.script))
			if exit.Code != tt.code || exit.Signal != tt.signal || exit.Exited() != (tt.signal == "") {
				t.Errorf("got %d %q, want %d %q", exit.Code, exit.Signal, tt.code, tt.signal)
			}
			if exit.Started.IsZero() || exit.Ended.Before(exit.Started) || exit.Stop != "" || exit.Left != 0 {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("plain", "echo", 0o644)
	tests := []struct {
		name, command string
		want          error
	}{
		{"no such command", "heirloom-no-such-command", ErrNotFound},
		{"no such file", filepath.Join(dir, "none"), ErrNotFound},
		{"below a file", filepath.Join(dir, "plain/x"), ErrNotFound},
		{"empty", "", ErrNotFound},
		{"not executable", filepath.Join(dir, "plain"), ErrNotExecutable},
		{"not executable in PATH", "plain", ErrNotExecutable},
		{"directory", dir, ErrNotExecutable},
		{"no format", write("garbage", "\x01\x02\x03", 0o755), ErrNotExecutable},
		{"no interpreter", write("script", "#!/no/such/interpreter\n", 0o755), ErrNotExecutable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := shell(t, "")
			spec.Args = []string{tt.command}
			spec.Env[0] += ":" + dir
			before := openFiles(t)
			if _, err := Start(spec); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.command) {
				t.Errorf("got %v, want %v naming %q", err, tt.want, tt.command)
			}
			if after := openFiles(t); after > before {
				t.Errorf("%d open files before, %d after", before, after)
			}
		})
	}
}

func TestWorkingDirectoryAbsent(t *testing.T) {
	spec := shell(t, "true")
	spec.Dir = filepath.Join(t.TempDir(), "none")
	_, err := Start(spec)
	if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "working directory") {
		t.Errorf("got %v", err)
	}
}

func TestFindUsesPathOfTheJob(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for dir, mode := range map[string]os.FileMode{first: 0o644, second: 0o755} {
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	spec := Spec{Args: []string{"tool"}, Env: []string{"PATH=" + first + ":" + second}}
	if got, err := spec.Find(); err != nil || got != filepath.Join(second, "tool") {
		t.Errorf("got %s, %v", got, err)
	}
	spec = Spec{Args: []string{"./tool"}, Dir: second}
	if got, err := spec.Find(); err != nil || got != "./tool" {
		t.Errorf("got %s, %v", got, err)
	}
	if exit := run(t, Spec{Args: []string{"./tool"}, Dir: second, LogDir: t.TempDir()}); exit.Code != 0 {
		t.Errorf("got %+v", exit)
	}
}

func TestEnvironment(t *testing.T) {
	spec := shell(t, "echo $PYTHONUNBUFFERED")
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "x\n" {
		t.Errorf("unset: got %q", got)
	}
	spec = shell(t, "echo $PYTHONUNBUFFERED")
	spec.Env = append(spec.Env, "PYTHONUNBUFFERED=1")
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "1\n" {
		t.Errorf("set: got %q", got)
	}
}

func TestStdin(t *testing.T) {
	spec := shell(t, "cat; echo end")
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "end\n" {
		t.Errorf("nil: got %q", got)
	}
	spec = shell(t, "cat")
	spec.Stdin = strings.NewReader("from a reader")
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "from a reader" {
		t.Errorf("reader: got %q", got)
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	spec = shell(t, "cat")
	spec.Stdin = file
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "from a file" {
		t.Errorf("file: got %q", got)
	}
	if _, err := file.Stat(); err != nil {
		t.Errorf("the caller's file was closed: %v", err)
	}
}

func TestNothingLeaks(t *testing.T) {
	run(t, shell(t, "true"))
	before := openFiles(t)
	for range 20 {
		run(t, shell(t, "echo out; echo err >&2"))
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d open files before, %d after", before, after)
	}
	goleak.VerifyNone(t)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc")
	}
	return len(entries)
}

// marked gives the processes that carry the mark, found independently of the
// code under test.
func marked(t *testing.T, mark string) (pids []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), mark) {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// launcher starts the test binary as a launcher of spec.
func launcher(t *testing.T, spec Spec) (*exec.Cmd, *expect) {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	out := newExpect()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", launcherVar, text))
	cmd.Stdout, cmd.Stderr = out, out
	// What the tests themselves were started to ignore, by nohup or in the
	// background of a script, is not what the launcher is to ignore.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(heard)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of one that a failed test leaves; its guard does the rest
	return cmd, out
}

func waitGone(t *testing.T, mark string) {
	t.Helper()
	poll(t, func() bool { return len(marked(t, mark)) == 0 })
}

// poll looks until it is so.
func poll(t *testing.T, so func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not so after %s", patience)
		}
	}
}
