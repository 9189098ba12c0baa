package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// Process is a started process. It must be waited for.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	started time.Time
	birth   uint64 // the kernel's own start time of the process, in ticks; 0 = unknown
	exited  chan struct{}
	ended   time.Time // set, as are state and waitErr, before exited is closed
	state   *os.ProcessState
	waitErr error

	logs   *logs
	guard  *Guard  // who ends the job after us
	keeper *Guard  // who takes what is left in the pipes after us; the same, or nil
	group  *cgroup // nil = none
	input  *feed

	stop     string    // what was last asked of it
	stopped  time.Time // when the grace time began, if it was asked to end
	deadline time.Time // when the grace time ends; zero = it was not asked to end
	killed   bool

	first   time.Time // when SIGINT first came; zero = it did not, or it means nothing to us
	hurried bool      // it came again
}

// Start starts the process. It fails with ErrNotFound or ErrNotExecutable where
// a shell would say 127 or 126; then nothing is left behind but empty logs.
func Start(spec Spec) (*Process, error) {
	path, err := spec.Find()
	if err != nil {
		return nil, err
	}
	if spec.Grace <= 0 {
		spec.Grace = DefaultGrace
	}
	p := &Process{spec: spec, exited: make(chan struct{})}
	if err := p.open(); err != nil {
		return nil, err
	}
	p.command(path)
	err = p.launch()
	if err != nil && p.group != nil && len(spec.Limits.controllers()) == 0 { // it only helps
		p.leaveGroup()
		p.command(path)
		err = p.launch()
	}
	if err != nil {
		p.abandon()
		return nil, err
	}
	p.logs.follow()
	p.input.start()
	return p, nil
}

// PID is the number of the process, which is also that of its session.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func (p *Process) command(path string) {
	p.cmd = &exec.Cmd{
		Path: path, Args: p.spec.Args, Dir: p.spec.Dir, Env: p.spec.environ(), SysProcAttr: ownSession(),
		Stdin: p.input.child(), Stdout: p.logs.out.child, Stderr: p.logs.err.child,
	}
	p.group.enter(p.cmd)
}

func (p *Process) open() (err error) {
	dir, err := filepath.Abs(p.spec.LogDir)
	if err != nil {
		return err
	}
	if p.input, err = openFeed(p.spec.Stdin); err != nil {
		return err
	}
	if p.logs, err = openLogs(p.spec.LogDir, p.spec.Stdout, p.spec.Stderr); err != nil {
		p.input.close()
		return fmt.Errorf("open logs: %w", err)
	}
	if p.guard = p.spec.Guard; p.guard == nil {
		p.keeper = newKeeper(p.spec.Mark, p.logs, dir)
		p.guard = p.keeper
	} else {
		p.keeper = newKeeper("", p.logs, dir)
	}
	if p.spec.Cgroups == nil {
		return nil
	}
	p.group, err = p.spec.Cgroups.make(p.spec.Limits, p.guard.watchGroup)
	if err != nil && len(p.spec.Limits.controllers()) > 0 {
		p.abandon()
		return err
	}
	return nil
}

// abandon undoes open.
func (p *Process) abandon() {
	p.leaveGroup()
	p.logs.abandon()
	p.input.close()
	p.keeper.Close()
}

// leaveGroup removes the control group. Nothing is in it any more.
func (p *Process) leaveGroup() {
	p.group.remove()
	p.guard.forgetGroup(p.group)
	p.group = nil
}

// launch starts the process from a thread that stays with it until it ends: the
// kernel sends the parent-death signal when that thread goes, not the program.
func (p *Process) launch() error {
	ready := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.started = time.Now()
		err := p.spec.Orphans.start(p.cmd)
		if err == nil {
			p.guard.watch(p.PID())
			p.birth = birthOf(p.PID()) // not yet waited for, so still to be seen
		}
		ready <- err
		if err != nil {
			return
		}
		p.state, p.waitErr = p.cmd.Process.Wait()
		p.ended = time.Now()
		close(p.exited)
	}()
	if err := <-ready; err != nil {
		if errors.Is(err, fs.ErrNotExist) { // the file is there, so what its first line names is not
			return fmt.Errorf("%w: %s: its interpreter does not exist", ErrNotExecutable, p.spec.Args[0])
		}
		return startError(p.spec.Args[0], err)
	}
	p.logs.closeChild()
	p.input.closeChild()
	return nil
}

// Wait passes signals on until the process has ended, ends what it left behind,
// and closes the logs. When ctx is cancelled the process is asked to end, and
// killed after the grace time. Showing the output may lag behind: see Drain.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	p.attend(ctx)
	exit := Exit{Started: p.started, Ended: p.ended, Stop: p.stop, Stopped: p.stopped, Killed: p.killed}
	exit.Left, exit.Survivors = p.sweep(ctx)
	p.guard.forget(p.PID())
	exit.OutOfMemory = p.group.outOfMemory()
	p.leaveGroup()
	p.spec.Orphans.forget(p.PID())
	p.input.close()
	exit.LostBytes, exit.LogErr = p.logs.finish()
	p.keeper.Close()
	if p.waitErr != nil {
		return exit, fmt.Errorf("wait for process %d: %w", p.PID(), p.waitErr)
	}
	exit.Code, exit.Signal = outcome(p.state)
	return exit, nil
}

// Drain waits until what the process wrote has been shown, and gives up when the
// reader has taken nothing for that long; it returns the bytes not shown. A
// writer that blocks for ever keeps one goroutine.
func (p *Process) Drain(stall time.Duration) int64 { return p.logs.drain(stall) }

// startError tells a command that is absent from one that cannot run.
func startError(name string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return fmt.Errorf("%w: %s: %w", ErrNotFound, name, root(err))
	case errors.Is(err, fs.ErrPermission), isBadFormat(err):
		return fmt.Errorf("%w: %s: %w", ErrNotExecutable, name, root(err))
	}
	return fmt.Errorf("start %s: %w", name, err)
}

// root drops the path and call that the message already has.
func root(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// feed is the standard input of a process.
type feed struct {
	from    io.Reader // nil = nothing to copy
	in, out *os.File  // in: the child's end; out: ours, when from is copied
	lent    bool      // in belongs to the caller
}

func openFeed(from io.Reader) (*feed, error) {
	if from == nil {
		null, err := os.Open(os.DevNull)
		return &feed{in: null}, err
	}
	if file, ok := from.(*os.File); ok {
		return &feed{in: file, lent: true}, nil
	}
	in, out, err := os.Pipe()
	return &feed{from: from, in: in, out: out}, err
}

func (f *feed) child() *os.File { return f.in }

// start copies until the reader or the process ends. A reader that blocks keeps
// its goroutine until its next return; nobody waits for it.
func (f *feed) start() {
	if f.from == nil {
		return
	}
	go func() {
		_, _ = io.Copy(f.out, f.from)
		_ = f.out.Close()
	}()
}

func (f *feed) closeChild() {
	if !f.lent {
		_ = f.in.Close()
	}
}

func (f *feed) close() {
	f.closeChild()
	if f.out != nil {
		_ = f.out.Close()
	}
}
