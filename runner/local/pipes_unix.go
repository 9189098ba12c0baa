//go:build unix

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"golang.org/x/sys/unix"
)

// makePipes makes those of a launch. A supervisor holds alive open for writing, which
// the kernel ends with it in whatever way it goes, so that no number of a process has
// to be believed.
func (l launch) makePipes() error {
	for _, name := range []string{alivePipe, controlPipe} {
		if err := unix.Mkfifo(l.path(name), 0o600); err != nil {
			return stateError(fmt.Errorf("make %s: %w", l.path(name), err))
		}
	}
	return nil
}

// hold opens alive as the supervisor does. It blocks nobody.
func (l launch) hold() (*os.File, error) {
	return os.OpenFile(l.path(alivePipe), os.O_RDWR, 0)
}

// lives says whether the supervisor does.
func (l launch) lives() bool {
	fd, err := unix.Open(l.path(alivePipe), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	var b [1]byte
	_, err = unix.Read(fd, b[:])
	return errors.Is(err, unix.EAGAIN)
}

// awaitGone returns when no supervisor lives.
func (l launch) awaitGone(ctx context.Context) error {
	f, err := os.OpenFile(l.path(alivePipe), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) { // deleted meanwhile
		return nil
	}
	if err != nil {
		return fmt.Errorf("wait for local app: %w", err)
	}
	defer func() { _ = f.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	_, _ = f.Read(make([]byte, 1)) // nothing is ever written
	return context.Cause(ctx)
}

// order is what a supervisor is told.
type order struct {
	Cancel bool          `json:"cancel"`
	Grace  time.Duration `json:"grace_ns,omitempty"` // 0 = as planned
}

// tell gives the supervisor an order; false if none lives.
func (l launch) tell(o order) (bool, error) {
	f, err := os.OpenFile(l.path(controlPipe), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("tell local supervisor: %w", err)
	}
	body, _ := json.Marshal(o) // holds nothing that could fail
	_, err = f.Write(append(body, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("tell local supervisor: %w", err)
	}
	return true, nil
}

// obey carries out orders until the returned function is called.
func (l launch) obey(cancel context.CancelCauseFunc) (stop func(), err error) {
	f, err := os.OpenFile(l.path(controlPipe), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, stateError(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		orders := json.NewDecoder(f)
		for {
			var o order
			if orders.Decode(&o) != nil {
				return
			}
			if o.Cancel {
				cancel(process.StopWithin(o.Grace))
			}
		}
	}()
	return func() {
		_ = f.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = f.Close()
	}, nil
}

// detached makes a process that our terminal and our end do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func closeOnExec(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC)
	return err
}

// renameNew moves a directory to where there is none; else the error is fs.ErrExist.
func renameNew(from, to string) error { return syscall.Rename(from, to) }
