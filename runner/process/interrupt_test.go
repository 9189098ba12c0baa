//go:build linux

package process

import (
	"syscall"
	"testing"
	"time"
)

// Ctrl-C that a job does not heed is followed by SIGTERM after the grace time, and that by
// SIGKILL.
func TestInterruptThatHasNoEffect(t *testing.T) {
	tests := []struct {
		name, script, stop, signal string
		code                       int
		killed                     bool
		grace                      time.Duration
	}{
		{"heeded", `trap 'exit 5' INT; echo ready; while :; do sleep 0.01; done`, "SIGINT", "", 5, false, time.Hour},
		{"TERM heeded", `trap "" INT; trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done`, "SIGTERM", "", 3, false, 10 * time.Second},
		{"none heeded", `trap "" INT TERM; echo ready; while :; do sleep 0.01; done`, "SIGTERM", "SIGKILL", 137, true, 300 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they wait
			spec := shell(t, tt.script)
			spec.EndOnInterrupt, spec.Grace = true, tt.grace
			cmd, out := launcher(t, spec)
			out.wait(t, "ready")
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err, out)
			}
			exit := lastExit(t, out)
			if exit.Code != tt.code || exit.Signal != tt.signal || exit.Stop != tt.stop || exit.Killed != tt.killed {
				t.Errorf("got %+v", exit)
			}
			if left := marked(t, spec.Mark); len(left) > 0 {
				t.Errorf("survivors: %v", left)
			}
		})
	}
}

// A second Ctrl-C kills the whole tree at once; one that comes together with the first does
// not.
func TestSecondInterruptKills(t *testing.T) {
	spec := shell(t, `trap 'echo got INT' INT; trap "" TERM; setsid sleep 600 & echo ready; while :; do sleep 0.01; done`)
	spec.EndOnInterrupt, spec.Grace = true, time.Hour
	cmd, out := launcher(t, spec)
	out.wait(t, "ready")
	interrupt := func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	first := time.Now()
	out.wait(t, "got INT\n")
	if time.Since(first) < again/2 { // else the machine is too busy for them to come together
		interrupt()
		out.wait(t, "got INT\ngot INT\n")
	}
	<-time.After(time.Until(first.Add(again + again/2)))
	interrupt()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, out)
	}
	if exit := lastExit(t, out); exit.Signal != "SIGKILL" || exit.Stop != "SIGINT" || exit.Killed {
		t.Errorf("got %+v", exit)
	}
	if left := marked(t, spec.Mark); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}
