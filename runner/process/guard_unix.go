//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guardScript waits for the end of its input, which comes when we are gone,
// however that happened, and then kills what is left of the job. The three
// passes are for processes that were being born during the one before. If we go
// before we could name the job, its mark still tells.
const guardScript = `read -r job
read -r end && exit 0
for pass in 1 2 3; do
	[ -n "$job" ] && kill -KILL -- "-$job"
	[ -n "$1" ] && [ -d /proc/self ] && grep -lzxF -e "$1" /proc/[0-9]*/environ |
	while IFS=/ read -r _ _ pid _; do kill -KILL "$pid"; done
done`

// guard is a small shell beside the job that outlives us. The parent-death
// signal reaches only the process we started; the guard ends its descendants. A
// machine without a shell does without.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// startGuard returns nil where no guard can run.
func startGuard(mark string) *guard {
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer func() { _ = in.Close() }()
	cmd := &exec.Cmd{
		Path:        "/bin/sh",
		Args:        []string{"sh", "-c", guardScript, "heirloom-guard", mark},
		Dir:         "/",
		Env:         []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
		Stdin:       in,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return nil
	}
	return &guard{cmd: cmd, pipe: out}
}

// watch names the job to the guard, at once after its start.
func (g *guard) watch(pid int) {
	if g != nil {
		_, _ = g.pipe.WriteString(strconv.Itoa(pid) + "\n")
	}
}

// release ends the guard and leaves the job alone. It may be called once.
func (g *guard) release() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
}
