package process

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
)

func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// members gives the living processes of the job: those of its session and group, those
// that left both but carry its mark, and those of its control group.
func (p *Process) members() []int {
	found := p.group.pids()
	if p.spec.Mark == "" && syscall.Kill(-p.PID(), 0) != nil {
		return found
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return found
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() && pid != os.Getppid() && p.owns(pid) {
			found = append(found, pid)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (p *Process) owns(pid int) bool {
	s, ok := readStat(pid)
	if !ok || s.state == 'Z' || s.state == 'X' || s.birth < p.birth {
		return false
	}
	return s.session == p.PID() || s.group == p.PID() || (p.spec.Mark != "" && hasMark(pid, p.spec.Mark))
}

func hasMark(pid int, mark string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if string(entry) == mark {
			return true
		}
	}
	return false
}

// signalAll signals the group at once, then those of the job that left it.
func (p *Process) signalAll(sig syscall.Signal) {
	if sig == sigKill {
		p.group.kill()
	}
	p.signalGroup(sig)
	for _, pid := range p.members() {
		if s, ok := readStat(pid); ok && s.group != p.PID() {
			_ = syscall.Kill(pid, sig)
		}
	}
}

type stat struct {
	state                  byte
	parent, group, session int
	birth                  uint64 // ticks since the machine started
}

// readStat reads /proc/PID/stat, where the name in parentheses may hold anything.
// It is called for each process of the machine, so it goes to the kernel directly.
func readStat(pid int) (stat, bool) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, false
	}
	var buf [1024]byte
	n, err := syscall.Read(fd, buf[:])
	_ = syscall.Close(fd)
	if err != nil {
		return stat{}, false
	}
	text := buf[:n]
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{state: fields[0][0]}
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.group, _ = strconv.Atoi(string(fields[2]))
	s.session, _ = strconv.Atoi(string(fields[3]))
	s.birth, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return s, err == nil
}

func birthOf(pid int) uint64 {
	s, _ := readStat(pid)
	return s.birth
}
