package settle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writers asks the kernel whether any process has the file open for writing: it
// grants a read lease only where none has. The lease is given back at once, for
// while it is held an open for writing waits. A break in that moment is told by
// SIGURG, which Go programs take without a thought.
func writers(f *os.File) openness {
	conn, err := f.SyscallConn()
	if err != nil {
		return unknown
	}
	state := unknown
	err = conn.Control(func(fd uintptr) {
		if _, err := unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGURG)); err != nil {
			return
		}
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		switch {
		case err == nil:
			state = closed
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK) // the close would give it back too
		case errors.Is(err, unix.EAGAIN):
			state = open
		}
	})
	if err != nil {
		return unknown
	}
	return state
}
