//go:build unix

package runner

import (
	"io/fs"
	"os"
	"syscall"
)

// lockNote opens a file of ours and locks it until it is closed, or this process
// ends in whatever way. The error has kind fs.ErrExist while another holds it,
// fs.ErrPermission if it is another user's.
func lockNote(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(int(f.Fd()), &st)
	if err == nil && int(st.Uid) != os.Geteuid() {
		err = fs.ErrPermission
	}
	if err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		err = fs.ErrExist
	}
	if err != nil {
		_ = f.Close()
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}
