//go:build linux

package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// Ctrl-C in a terminal reaches each process of the job once, and the job can
// read from the terminal.
func TestTerminal(t *testing.T) {
	spec := shell(t, `echo pid $$; trap 'echo interrupted' INT
sh -c 'trap "echo child interrupted; exit" INT; echo ready; while :; do sleep 0.01; done'
read -r line; echo "read <$line>"; trap 'echo late' INT; sleep 0.2`)
	master, slave := terminal(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), launcherVar+"="+mustJSON(t, spec))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	out := newExpect()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(out, master) // ends when the last holder of the slave has gone
	}()
	out.wait(t, "ready")
	var job int
	if _, err := fmt.Sscanf(out.String(), "pid %d", &job); err != nil {
		t.Fatal(err)
	}
	if s, ok := readStat(job); !ok || s.session != job || s.group != job {
		t.Errorf("the job %d is in session %d and group %d: the terminal would reach it too", job, s.session, s.group)
	}
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "child interrupted")
	if _, err := master.WriteString("typed\n"); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "read <typed>")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	<-read
	log := readLog(t, spec, stdoutLog)
	if strings.Count(log, "child interrupted\n") != 1 || strings.Count(log, "interrupted\n") != 2 || strings.Contains(log, "late") {
		t.Errorf("log %q", log)
	}
}
