//go:build unix

package runner

import (
	"os"
	"os/exec"
	"testing"
)

func BenchmarkRunTrue(b *testing.B) {
	l, err := openForTest(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Store.Close()
	job := Job{Args: []string{"true"}, Environ: os.Environ()}
	for b.Loop() {
		if _, err := l.Run(b.Context(), job, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkForkExecTrue(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
