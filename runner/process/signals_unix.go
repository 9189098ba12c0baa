//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	sigTerm = syscall.SIGTERM
	sigKill = syscall.SIGKILL
)

func caught() []os.Signal {
	return []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGPIPE,
	}
}

// pass gives a signal to the job as a terminal would: to all of it what stops,
// to the process itself what only it can know the meaning of.
func (p *Process) pass(sig os.Signal) {
	if s, ok := sig.(suspension); ok {
		p.suspend()
		s.Done()
		return
	}
	switch sig {
	case syscall.SIGPIPE: // it may be about any pipe or connection of ours; see readerGone
	case syscall.SIGTSTP: // the job stops and then we do; SIGCONT comes as a signal of its own
		p.suspend()
		stopSelf()
	case syscall.SIGCONT:
		p.signalGroup(syscall.SIGCONT)
	case syscall.SIGTERM:
		p.terminate(signalName(sig))
	case syscall.SIGUSR1, syscall.SIGUSR2:
		select {
		case <-p.exited:
		default:
			_ = p.cmd.Process.Signal(sig)
		}
	default:
		p.note(sig)
		p.signalAll(sig.(syscall.Signal))
		if sig == syscall.SIGINT {
			p.interrupted()
		}
	}
}

func (p *Process) suspend() { p.signalGroup(syscall.SIGSTOP) }

func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// readerGone gives the job what it would have had if it wrote to our output
// itself: most programs end (yes | head), those that ignore it go on and keep
// their logs.
func (p *Process) readerGone() {
	p.note(syscall.SIGPIPE)
	p.signalAll(syscall.SIGPIPE)
}

// signalGroup signals the group of the process, which while it has a member
// keeps its number from being given to another.
func (p *Process) signalGroup(sig syscall.Signal) { _ = syscall.Kill(-p.PID(), sig) }

func signalName(sig os.Signal) string {
	if s, ok := sig.(syscall.Signal); ok {
		return unix.SignalName(s)
	}
	return sig.String()
}

func outcome(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), signalName(status.Signal())
	}
	return state.ExitCode(), ""
}

func isBadFormat(err error) bool {
	return errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ETXTBSY)
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func suspends(sig os.Signal) bool { return sig == syscall.SIGTSTP }
