//go:build linux || darwin

package localblob

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func setXattr(f *os.File, name string, data []byte) error {
	return unix.Fsetxattr(int(f.Fd()), name, data, 0)
}

func removeXattr(f *os.File, name string) error { return unix.Fremovexattr(int(f.Fd()), name) }

// getXattr returns nil where the file has no such attribute or the file system has none at all.
func getXattr(f *os.File, name string) ([]byte, error) {
	buf := make([]byte, 4096)
	for {
		n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
		switch {
		case err == nil:
			return buf[:n], nil
		case errors.Is(err, noXattr), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
			return nil, nil
		case !errors.Is(err, unix.ERANGE):
			return nil, &os.PathError{Op: "getxattr", Path: f.Name(), Err: err}
		}
		n, err = unix.Fgetxattr(int(f.Fd()), name, nil)
		if err != nil {
			return nil, &os.PathError{Op: "getxattr", Path: f.Name(), Err: err}
		}
		buf = make([]byte, n)
	}
}
