package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// A disk that fills up while a file is fetched is named as the cause; there is no half file under the name, and what was
// there before is whole.
func TestGetOntoAFullDisk(t *testing.T) {
	root, disk := filepath.Join(t.TempDir(), "store"), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("x"), 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(disk, "old")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dest := range []string{old, filepath.Join(disk, "new")} {
		if code, text := command(t, "--store", root, "store", "put", big, "big"); code != exitOK {
			t.Fatalf("put: %d, %s", code, text)
		}
		code, text := command(t, "--store", root, "store", "get", "big", dest)
		if code != exitOther || !strings.Contains(text, "no space left") || !strings.Contains(text, "free some space there") {
			t.Errorf("get: %d, %s", code, text)
		}
	}
	if body, err := os.ReadFile(old); err != nil || string(body) != "old" {
		t.Errorf("what was there before is %q, %v", body, err)
	}
	if _, err := os.Stat(filepath.Join(disk, "new")); err == nil {
		t.Error("half a file has the name")
	}
}

// A run whose end cannot be recorded for want of space says so once.
func TestRunOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	code, text := command(t, "--store", filepath.Join(disk, "store"), "run", "--", "/bin/sh", "-c", "exec 2>/dev/null; while echo 0123456789; do :; done >$HEIRLOOM_OUTPUT_DIR/big; true")
	if code != exitOwnFailure || strings.Count(text, "no space left") != 1 || !strings.Contains(text, "free some space") {
		t.Errorf("run: %d, %s", code, text)
	}
}

// command runs one command line in this process and returns its exit code and what it said on stderr.
func command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var stderr bytes.Buffer
	code := execute(t.Context(), process{
		stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &stderr,
		environ: []string{"HOME=" + t.TempDir()}, args: args, workdir: os.Getwd,
	})
	return code, stderr.String()
}
