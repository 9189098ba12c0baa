package groupsync

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// flushAll flushes each file system that entries lie on. A kernel before 5.8 does not tell what went wrong there.
func flushAll(entries []entry) error {
	if !tellsErrors() {
		return errors.ErrUnsupported
	}
	done := map[uint64]bool{}
	for _, e := range entries {
		var st unix.Stat_t
		if err := unix.Fstat(int(e.file.Fd()), &st); err != nil {
			return &os.PathError{Op: "stat", Path: e.file.Name(), Err: err}
		}
		device := uint64(st.Dev) //nolint:unconvert // the type differs between architectures
		if done[device] {
			continue
		}
		if err := unix.Syncfs(int(e.file.Fd())); err != nil {
			return &os.PathError{Op: "syncfs", Path: e.file.Name(), Err: err}
		}
		done[device] = true
	}
	return nil
}

func tellsErrors() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	release, _, _ := bytes.Cut(name.Release[:], []byte{0})
	if _, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 5 || major == 5 && minor >= 8
}
