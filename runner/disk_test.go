//go:build linux

package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// smallDisk mounts a file system of that size, or skips.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

// With the disk of a local store full, the job goes on to its own end. What
// could not be recorded is said, and the run is not said to have succeeded.
func TestDiskFullWhileTheJobRuns(t *testing.T) {
	root := smallDisk(t, "size=256k")
	l := newLauncher(t, filepath.Join(root, "store"), nil)
	end := filepath.Join(t.TempDir(), "end")
	result, err := l.Run(t.Context(), sh(`head -c 1000000 /dev/zero; echo done > `+end), nil)
	if _, fail := os.Stat(end); fail != nil {
		t.Error("the job did not come to its end")
	}
	if !errors.Is(err, store.ErrNoSpace) || len(result.Warnings) == 0 || result.ExitCode != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	if n := strings.Count(fmt.Sprint(err), "no space left"); n != 1 {
		t.Errorf("the reason is given %d times: %v", n, err)
	}
	if run, err := l.Tracker.Run(t.Context(), result.RunID); err != nil || run.State == tracker.Succeeded || len(run.Warnings) > 0 {
		t.Errorf("recorded %+v, %v", run, err)
	}
}

// With the disk of scratch full, the loss of logs is a warning and recorded.
func TestScratchFull(t *testing.T) {
	l := newLauncher(t, "mem://", nil)
	l.TempDir = smallDisk(t, "size=128k")
	result, err := l.Run(t.Context(), sh(`head -c 1000000 /dev/zero`), nil)
	if err != nil || result.State != tracker.Succeeded || len(result.Warnings) != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
	if list, _ := value(readRun(t, l, result.RunID).Metadata, KeyWarnings).([]any); len(list) != 1 {
		t.Errorf("recorded %v", list)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	root := smallDisk(t, "size=256k")
	if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	l := newLauncher(t, filepath.Join(root, "store"), nil)
	marker := filepath.Join(t.TempDir(), "ran")
	if _, err := l.Run(t.Context(), sh("touch "+marker), nil); !errors.Is(err, store.ErrPermission) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the job ran")
	}
}
