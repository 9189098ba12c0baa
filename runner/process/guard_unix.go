//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guardScript is told of groups, NUMBER for one that began and -NUMBER for one that
// is over, and of control groups, by their directories, until its input ends. That
// happens when we are gone, in whatever way; then it kills what is left of the job. The
// three passes are for processes that were being born during the one before. If we go
// before we could name a group, the mark still tells. Last it adds to the logs what the
// job wrote into its pipes and we did not take; two seconds are for a process that
// left the job in every way and holds one open.
const guardScript = `set -f
IFS='
'
jobs=
while read -r job; do
	case $job in
	-*) kept=
		for one in $jobs; do [ "$one" = "$job" ] || kept="$kept$IFS$one"; done
		jobs=$kept ;;
	*) jobs="$jobs$IFS-$job" ;;
	esac
done
for pass in 1 2 3; do
	for job in $jobs; do
		case $job in
		-/*) echo 1 >"${job#-}/cgroup.kill" ;;
		*) kill -KILL -- "$job" ;;
		esac
	done
	set +f
	[ -n "$1" ] && [ -d /proc/self ] && grep -lzxF -e "$1" /proc/[0-9]*/environ |
	while IFS=/ read -r _ _ pid _; do kill -KILL "$pid"; done
	set -f
done
if [ -n "$2" ]; then
	command -v timeout >/dev/null || timeout() { shift; "$@"; }
	timeout 2 cat </proc/self/fd/3 >>"$2/stdout.log" &
	timeout 2 cat </proc/self/fd/4 >>"$2/stderr.log" &
	wait
fi
for try in 1 2 3; do
	left=
	for job in $jobs; do
		case $job in -/*) [ ! -d "${job#-}" ] || rmdir "${job#-}" || left=1 ;; esac
	done
	[ -n "$left" ] || break
	sleep 1
done`

// Guard is a small shell beside the job that outlives us. The parent-death
// signal reaches only the process we started; the guard ends its descendants, and keeps
// what they wrote. A machine without a shell does without: nil is no guard.
type Guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// NewGuard starts one for all processes that carry the mark, "NAME=value", and for
// the groups of those that name it in their Spec. It returns nil where none can run.
func NewGuard(mark string) *Guard { return startGuard(mark, "") }

// newKeeper starts one that also adds to the logs in dir what is left in the two pipes.
// Where those cannot be opened again, it does without.
func newKeeper(mark string, l *logs, dir string) *Guard {
	out, err := reopened(l.out.pipe)
	if err != nil {
		return NewGuard(mark)
	}
	defer func() { _ = out.Close() }()
	errs, err := reopened(l.err.pipe)
	if err != nil {
		return NewGuard(mark)
	}
	defer func() { _ = errs.Close() }()
	return startGuard(mark, dir, out, errs)
}

func startGuard(mark, dir string, pipes ...*os.File) *Guard {
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer func() { _ = in.Close() }()
	cmd := &exec.Cmd{
		Path:        "/bin/sh",
		Args:        []string{"sh", "-c", guardScript, "heirloom-guard", mark, dir},
		Dir:         "/",
		Env:         []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
		Stdin:       in,
		ExtraFiles:  pipes,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return nil
	}
	return &Guard{cmd: cmd, pipe: out}
}

// watch names a process to the guard, at once after its start.
func (g *Guard) watch(pid int) { g.tell(strconv.Itoa(pid)) }

// forget says that a process and all of its group are gone.
func (g *Guard) forget(pid int) { g.tell(strconv.Itoa(-pid)) }

// watchGroup names the directory of a control group to the guard, before it is there.
func (g *Guard) watchGroup(dir string) { g.tell(dir) }

// forgetGroup says that a control group is no more.
func (g *Guard) forgetGroup(group *cgroup) {
	if group != nil {
		g.tell("-" + group.dir)
	}
}

func (g *Guard) tell(line string) {
	if g != nil {
		_, _ = g.pipe.WriteString(line + "\n")
	}
}

func (g *Guard) pid() int {
	if g == nil {
		return 0
	}
	return g.cmd.Process.Pid
}

// Close ends the guard and leaves the job alone. It may be called once.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
}
