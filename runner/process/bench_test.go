//go:build linux

package process

import (
	"os"
	"os/exec"
	"testing"
)

func BenchmarkRunTrue(b *testing.B) { benchTrue(b, nil) }

func benchTrue(b *testing.B, groups *Cgroups) {
	dir := b.TempDir()
	for b.Loop() {
		p, err := Start(Spec{Args: []string{"true"}, Env: []string{"PATH=" + os.Getenv("PATH"), "BENCH=1"}, LogDir: dir, Mark: "BENCH=1", Cgroups: groups})
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := p.Wait(b.Context()); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

// BenchmarkRunTrueInCgroup is the same with a control group of its own.
func BenchmarkRunTrueInCgroup(b *testing.B) {
	groups, err := FindCgroups("", Limits{})
	if err != nil {
		b.Skip(err)
	}
	benchTrue(b, groups)
}

func BenchmarkForkExecTrue(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMembers is the search for processes that left the session.
func BenchmarkMembers(b *testing.B) {
	p := &Process{cmd: exec.Command("true"), spec: Spec{Mark: "BENCH=1"}}
	if err := p.cmd.Run(); err != nil {
		b.Fatal(err)
	}
	p.birth = birthOf(os.Getpid())
	for b.Loop() {
		p.members()
	}
}
