package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// BenchmarkStart times whole processes, as a user starts them, and tells the
// size of the binary, beside TorchX's own command.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "heirloom")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(b.TempDir(), "store")
	start(b, binary, "run", "-q", "--store", root, "--name", "bench", "--", "true")
	cases := []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"show", []string{"show", "bench", "--store", root}},
		{"run-true", []string{"run", "-q", "--store", filepath.Join(b.TempDir(), "runs"), "--", "true"}},
	}
	for _, c := range cases {
		b.Run("heirloom-"+c.name, func(b *testing.B) {
			for b.Loop() {
				start(b, binary, c.args...)
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
		})
	}
	b.Run("torchx-version", func(b *testing.B) {
		torchx := filepath.Join(filepath.Dir(servers.Python(b, "torchx==0.7.0", "fsspec==2026.9.0")), "torchx")
		for b.Loop() {
			start(b, torchx, "--version")
		}
	})
}

func start(b *testing.B, name string, args ...string) {
	b.Helper()
	if out, err := exec.CommandContext(b.Context(), name, args...).CombinedOutput(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
