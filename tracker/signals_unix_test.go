//go:build unix

package tracker_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker"
)

// TestFlushOn kills a job in the midst of its reports.
func TestFlushOn(t *testing.T) {
	dir := t.TempDir()
	cmd := helper(t, "report", dir)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	line := make([]byte, 9)
	_, err = out.Read(line)
	check(t, err)
	check(t, cmd.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the job ended with %v, want SIGTERM", err)
	}
	tr := tracker.NewFileTracker(openStore(t, dir, nil), nil)
	m, err := tr.Metadata(t.Context(), runA)
	check(t, err)
	if dump(t, m) != `{"first": 1, "second": 2}` {
		t.Errorf("metadata is %s", dump(t, m))
	}
}

// reportAndWait reports twice, says so, and waits for a signal.
func reportAndWait(ctx context.Context, tr *tracker.FileTracker, _ []string) error {
	run := tracker.NewAppRun(runA, tr)
	defer run.FlushOn(syscall.SIGTERM)()
	for _, key := range []string{"first", "second"} {
		if err := run.AddMetadata(ctx, object(key, int64(len(key)-4))); err != nil {
			return err
		}
	}
	fmt.Println("reported")
	<-ctx.Done() // for ever
	return run.Close()
}

func signalHelpers() map[string]func(context.Context, *tracker.FileTracker, []string) error {
	return map[string]func(context.Context, *tracker.FileTracker, []string) error{"report": reportAndWait}
}
