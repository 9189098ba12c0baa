//go:build linux

package process

import (
	"encoding/json"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// smallDisk mounts a file system of that size, or skips.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
