package dirtreetest

import (
	"bufio"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"
)

// Kill runs a process that does not end by itself and kills it at any moment, up to most after its first line. It
// returns the lines that the process wrote on its standard output.
func Kill(t *testing.T, cmd *exec.Cmd, most time.Duration) (lines []string) {
	t.Helper()
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for said := bufio.NewScanner(out); said.Scan(); {
		if len(lines) == 0 {
			time.AfterFunc(rand.N(most), func() { _ = cmd.Process.Kill() })
		}
		lines = append(lines, said.Text())
	}
	_ = cmd.Wait() // killed
	if cmd.ProcessState.Exited() {
		t.Errorf("the process ended by itself: %v", cmd.ProcessState)
	}
	return lines
}
