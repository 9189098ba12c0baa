package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/tracker"
)

// A job that is run elsewhere, by Execute, is recorded as one that is run here:
// its command need not exist on this machine.
func TestExecuteIsRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	var environ []string
	result, err := l.Run(t.Context(), Job{Args: []string{"/no/such/program", "--lr", "0.1"}, Execute: func(_ context.Context, s Started, env []string) (process.Exit, error) {
		environ = env
		return process.Exit{Code: 7}, os.WriteFile(filepath.Join(s.OutputDir, "model.bin"), []byte("x"), 0o600)
	}}, nil)
	if err != nil || result.State != tracker.Failed || result.ExitCode != 7 || result.Artifacts != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	if !strings.Contains(strings.Join(environ, "\n"), "HEIRLOOM_RUN_ID="+string(result.RunID)) {
		t.Errorf("the environment is %q", environ)
	}
	run, err := l.Tracker.Run(t.Context(), result.RunID)
	if err != nil || run.State != tracker.Failed || run.Metadata.Text(tracker.KeyName) != "program" {
		t.Errorf("recorded: %+v, %v", run, err)
	}
}

func TestExecuteThatFails(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	broken := errors.New("nobody there")
	result, err := l.Run(t.Context(), Job{Args: []string{"train"}, Execute: func(context.Context, Started, []string) (process.Exit, error) {
		return process.Exit{}, broken
	}}, nil)
	if !errors.Is(err, broken) || result.State != tracker.Failed || result.ExitCode != 125 {
		t.Fatalf("%+v, %v", result, err)
	}
}
