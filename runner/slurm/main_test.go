package slurm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestMain lets the test binary be the program on the nodes.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && (os.Args[1] == BatchCommand || os.Args[1] == TaskCommand) {
		os.Exit(onNode(os.Args[1], os.Args[2]))
	}
	os.Exit(m.Run())
}

func onNode(command, dir string) int {
	n := Node{Dir: dir, Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Launcher: launcherForTest, Restore: restoreForTest}
	code, err := 0, error(nil)
	if command == BatchCommand {
		code, err = RunBatch(context.Background(), n)
	} else if err = RunTask(context.Background(), n); err != nil {
		code = 1
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "heirloom:", err)
	}
	return code
}

func launcherForTest(ctx context.Context, rec runner.Recording) (*runner.Launcher, func() error, error) {
	s, err := store.Open(ctx, rec.Store, nil)
	if err != nil {
		return nil, nil, err
	}
	return runner.NewLauncher(s, tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil)), s.Close, nil
}

func restoreForTest(ctx context.Context, rec runner.Recording, dirs []runner.WorkspaceDir, to string) error {
	s, err := store.Open(ctx, rec.Store, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	var list []workspace.Placed
	for _, d := range dirs {
		list = append(list, workspace.Placed{Digest: d.Digest, To: d.To})
	}
	return workspace.RestoreAll(ctx, s, list, to)
}
