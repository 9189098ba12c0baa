//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestCommandThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "echo", "garbage": "\x01\x02"} {
		mode := map[string]os.FileMode{"plain": 0o644, "garbage": 0o755}[name]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, command string
		want          error
		recorded      int
	}{
		{"absent", "heirloom-no-such-command", ErrNotFound, 0},
		{"not executable", filepath.Join(dir, "plain"), ErrNotExecutable, 0},
		{"refused by the kernel", filepath.Join(dir, "garbage"), ErrNotExecutable, 126},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "new")
			l := newLauncher(t, root, nil)
			result, err := l.Run(t.Context(), Job{Args: []string{tt.command}, Environ: []string{"PATH=/bin"}}, nil)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.command) {
				t.Errorf("got %v", err)
			}
			if tt.recorded == 0 {
				if _, err := os.Stat(root); err == nil {
					t.Error("something was written")
				}
				return
			}
			run := readRun(t, l, result.RunID)
			if run.State != tracker.Failed || value(run.Metadata, tracker.KeyExitCode) != int64(tt.recorded) || result.ExitCode != tt.recorded {
				t.Errorf("got %+v, %s", result, jsonOf(run.Metadata))
			}
		})
	}
}

func TestUnwritableStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	below := newLauncher(t, filepath.Join(file, "store"), nil)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	deny := &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
		if r.Op == "put" || r.Op == "create" || r.Op == "append" {
			return store.ErrPermission
		}
		return do()
	}}
	for name, l := range map[string]*Launcher{
		"below a file": below,
		"denied":       newLauncher(t, t.TempDir(), deny),
	} {
		t.Run(name, func(t *testing.T) {
			marker := filepath.Join(t.TempDir(), "ran")
			_, err := l.Run(t.Context(), sh("touch "+marker), func(Started) { t.Error("started") })
			if err == nil || !strings.Contains(err.Error(), "record start of run") {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("the job ran")
			}
		})
	}
}
