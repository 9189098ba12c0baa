package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	sigTerm = syscall.SIGTERM
	sigKill = syscall.SIGKILL
)

func caught() []os.Signal { return []os.Signal{os.Interrupt} }

// pass does nothing with Ctrl-C but see what follows: the console has already given it to
// the job.
func (p *Process) pass(sig os.Signal) {
	p.note(sig)
	p.interrupted()
}

// signalAll can only end the process itself here; it has no gentler way.
func (p *Process) signalAll(sig syscall.Signal) {
	if sig == sigKill || sig == sigTerm {
		_ = p.cmd.Process.Kill()
	}
}

// readerGone does nothing: there is no signal for it here.
func (p *Process) readerGone() {}

func (p *Process) members() []int { return nil }

func birthOf(int) uint64 { return 0 }

func signalName(sig os.Signal) string {
	if sig == os.Interrupt {
		return "SIGINT"
	}
	return sig.String()
}

func outcome(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

func isBadFormat(err error) bool { return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) }

func isNotDir(error) bool { return false }

func ownSession() *syscall.SysProcAttr { return nil }

// Guard does nothing here.
type Guard struct{}

// NewGuard returns nil.
func NewGuard(string) *Guard { return nil }

func newKeeper(string, *logs, string) *Guard { return nil }

// Close does nothing.
func (*Guard) Close() {}

func (*Guard) watch(int)           {}
func (*Guard) forget(int)          {}
func (*Guard) watchGroup(string)   {}
func (*Guard) forgetGroup(*cgroup) {}
func (*Guard) pid() int            { return 0 }

// stopSelf does nothing: nothing here is suspended.
func stopSelf() {}

func (p *Process) suspend() {}

func suspends(os.Signal) bool { return false }
