//go:build unix && !linux

package process

import "syscall"

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// members tells only whether the group has any: here a process that leaves it
// cannot be found again.
func (p *Process) members() []int {
	if syscall.Kill(-p.PID(), 0) != nil {
		return nil
	}
	return []int{p.PID()}
}

func (p *Process) signalAll(sig syscall.Signal) { p.signalGroup(sig) }

func birthOf(int) uint64 { return 0 }
