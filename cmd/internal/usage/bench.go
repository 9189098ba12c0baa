package usage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Number is a variable of the environment that a bench is told by: at least 1, fallback where it is not set.
func Number(t *testing.T, variable string, fallback int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no number", variable, text)
	}
	return n
}

// Build makes the binary that users have, and returns its path. It goes with the test.
func Build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heirloom")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/heirloom-ml/heirloom/cmd/heirloom")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}
