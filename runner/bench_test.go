//go:build unix

package runner

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkRunTrue is what a launch costs on a local store, in a directory of its
// own and in the work tree of this repository, about which git is asked.
func BenchmarkRunTrue(b *testing.B) {
	here, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	for name, dir := range map[string]string{"plain": b.TempDir(), "git": here} {
		b.Run(name, func(b *testing.B) {
			l, err := openForTest(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer l.Store.Close()
			job := Job{Args: []string{"true"}, Dir: dir, Environ: os.Environ()}
			for b.Loop() {
				if _, err := l.Run(b.Context(), job, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkForkExecTrue(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
