//go:build unix

package runner

import (
	"bytes"
	"context"
	"errors"
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

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The test binary is also a launcher, and a job that notes each write that was
// acknowledged to it.
const (
	modeVar    = "HEIRLOOM_TEST_MODE"
	modeLaunch = "launch"
	modeAck    = "ack"
	ledgerVar  = "HEIRLOOM_TEST_LEDGER"
	writesVar  = "HEIRLOOM_TEST_WRITES"
)

const crashRunID = "local://torchx/crash"

func openForTest(url string) (*Launcher, error) {
	s, err := store.Open(context.Background(), url, nil)
	if err != nil {
		return nil, err
	}
	return NewLauncher(s, tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil)), nil
}

func launchForTest() {
	l, err := openForTest(os.Getenv(envStore))
	if err != nil {
		panic(err)
	}
	l.TempDir = os.Getenv("TMPDIR")
	job := Job{Args: []string{os.Args[0]}, RunID: crashRunID, Environ: []string{
		"PATH=" + os.Getenv("PATH"), modeVar + "=" + modeAck,
		ledgerVar + "=" + os.Getenv(ledgerVar), writesVar + "=" + os.Getenv(writesVar),
	}}
	if _, err := l.Run(context.Background(), job, nil); err != nil {
		panic(err)
	}
}

// ackForTest writes facts, and the number of each to the ledger when it is
// acknowledged. A helper of its own stays behind it. It ends with 1, so that no
// truth calls it a success.
func ackForTest() {
	l, err := openForTest(os.Getenv(envStore))
	if err != nil {
		panic(err)
	}
	ledger, err := os.OpenFile(os.Getenv(ledgerVar), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	helper := exec.Command("sleep", "600")
	helper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := helper.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintf(ledger, "pid %d\n", os.Getpid())
	ctx, id := context.Background(), tracker.RunID(os.Getenv(envRunID))
	var writes int
	_, _ = fmt.Sscan(os.Getenv(writesVar), &writes)
	for i := range writes {
		name := fmt.Sprint(i)
		m := pyjson.NewObject(pyjson.Member{Key: "ack." + name, Value: int64(i)})
		err := errors.Join(
			l.Tracker.AddMetadata(ctx, id, m),
			l.Tracker.AddArtifact(ctx, id, tracker.Artifact{Name: name, Path: "file:///" + name}),
			l.Tracker.AddSource(ctx, id, tracker.Source{ID: tracker.RunID("input-" + name)}))
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(ledger, "ack %d\n", i)
	}
	os.Exit(1)
}

// TestKill kills the launcher or the job with -9 at any moment.
func TestKill(t *testing.T) {
	rounds := 12
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 240
	}
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) { killOnce(t, i%3 == 2) })
	}
}

func killOnce(t *testing.T, killJob bool) {
	root, tmp := t.TempDir(), t.TempDir()
	ledger := filepath.Join(tmp, "ledger")
	cmd := exec.Command(os.Args[0])
	writes := rand.IntN(20)
	cmd.Env = append(os.Environ(), modeVar+"="+modeLaunch, envStore+"="+root, ledgerVar+"="+ledger,
		fmt.Sprintf("%s=%d", writesVar, writes), "TMPDIR="+tmp)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() { // where it stands
			_ = cmd.Process.Signal(syscall.SIGABRT)
			_ = cmd.Wait()
			t.Logf("the launcher said: %s", &out)
		}
	})
	if killJob {
		pid := 0
		poll(t, "the start of the job", func() bool {
			text, _ := os.ReadFile(ledger)
			_, _ = fmt.Sscanf(string(text), "pid %d\n", &pid)
			return pid != 0
		})
		kill := time.AfterFunc(rand.N(30*time.Millisecond), func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		err := cmd.Wait()
		kill.Stop()
		if err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
	} else {
		kill := time.AfterFunc(rand.N(150*time.Millisecond), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	waitNobody(t, envRunID+"="+crashRunID, ledger)
	checkTruth(t, root, ledger, killJob)
}

// waitNobody waits until no process of the job lives: one with its mark and its
// ledger, since tests of other packages may run jobs too.
func waitNobody(t *testing.T, mark, ledger string) {
	t.Helper()
	poll(t, "the end of all of the job's processes", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		return !slices.ContainsFunc(files, func(file string) bool {
			environ, _ := os.ReadFile(file)
			entries := strings.Split(string(environ), "\x00")
			return slices.Contains(entries, mark) && slices.Contains(entries, ledgerVar+"="+ledger)
		})
	})
}

// poll looks until it is so, however busy the machine is.
func poll(t *testing.T, what string, so func() bool) {
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

// checkTruth: all that was acknowledged is there, nothing is half-written, and
// the run is not said to have succeeded.
func checkTruth(t *testing.T, root, ledger string, ended bool) {
	t.Helper()
	l := newLauncher(t, root, nil)
	run, err := l.Tracker.Run(t.Context(), crashRunID)
	text, _ := os.ReadFile(ledger)
	if errors.Is(err, store.ErrNotExist) && len(text) == 0 {
		return // killed before anything was recorded
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) > 0 {
		t.Errorf("half-written: %v", run.Warnings)
	}
	if run.State == tracker.Succeeded || (ended && run.State != tracker.Failed) {
		t.Errorf("state %s", run.State)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if k, _ := fmt.Sscanf(line, "ack %d\n", &n); k != 1 {
			continue
		}
		name := fmt.Sprint(n)
		if value(run.Metadata, "ack."+name) != int64(n) {
			t.Errorf("metadata %d is lost", n)
		}
		if !slices.ContainsFunc(run.Artifacts, func(a tracker.Artifact) bool { return a.Name == name }) {
			t.Errorf("artifact %d is lost", n)
		}
		if !slices.ContainsFunc(run.Sources, func(s tracker.Source) bool { return string(s.ID) == "input-"+name }) {
			t.Errorf("source %d is lost", n)
		}
	}
}
