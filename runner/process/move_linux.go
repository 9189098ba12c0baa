package process

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mover is how bytes come from the pipe into the log.
type mover struct {
	pipe  syscall.RawConn // nil = not yet used
	plain bool            // this file system takes them from no pipe
}

// fetch moves what the process wrote into the log and gives it, with how many bytes of
// it the log has. The kernel moves it: at no moment are bytes neither in the pipe,
// whose guard keeps them, nor in the log. The error is io.EOF at the end.
func (s *stream) fetch(buf []byte) (b []byte, kept int, err error) {
	if s.mover.plain {
		return s.fetchPlain(buf)
	}
	at := s.file.size.Load()
	n, err := s.splice(at, len(buf))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed):
		return nil, 0, err
	case err != nil: // of the file; a full disk may have room later
		s.mover.plain = errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM)
		return s.fetchPlain(buf)
	case n == 0:
		return nil, 0, io.EOF
	}
	s.file.size.Add(int64(n))
	m, err := s.file.ReadAt(buf[:n], at)
	if m < n { // the log has the rest, which is not to be shown
		s.file.fail(err)
	}
	return buf[:m], m, nil
}

// splice waits until there is something to move, or the end, which is 0.
func (s *stream) splice(at int64, most int) (n int, err error) {
	if s.mover.pipe == nil {
		if s.mover.pipe, err = s.pipe.SyscallConn(); err != nil {
			return 0, err
		}
	}
	waitErr := s.mover.pipe.Read(func(fd uintptr) bool {
		if waiting, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil && waiting > 0 {
			s.combined.mark()
		}
		var moved int64
		for {
			off := at
			moved, err = unix.Splice(int(fd), nil, int(s.file.Fd()), &off, most, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		n = max(0, int(moved))
		return !errors.Is(err, unix.EAGAIN)
	})
	if waitErr != nil {
		return 0, waitErr
	}
	return n, err
}

// reopened opens the reading end of a pipe once more, for another process, whose waiting
// is none of ours.
func reopened(pipe *os.File) (*os.File, error) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return nil, err
	}
	var again *os.File
	failed := raw.Control(func(fd uintptr) {
		again, err = os.Open("/proc/self/fd/" + strconv.Itoa(int(fd)))
	})
	return again, errors.Join(err, failed)
}
