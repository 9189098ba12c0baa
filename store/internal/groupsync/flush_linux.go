package groupsync

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// flushAll flushes each file system that entries lie on. A kernel before 5.8 does not tell what went wrong there.
func flushAll(entries []entry) error {
	if !tellsErrors() {
		return errors.ErrUnsupported
	}
	var done []unix.Stat_t // a file of each that was flushed
	for _, e := range entries {
		var st unix.Stat_t
		if err := unix.Fstat(int(e.file.Fd()), &st); err != nil {
			return &os.PathError{Op: "stat", Path: e.file.Name(), Err: err}
		}
		if slices.ContainsFunc(done, func(other unix.Stat_t) bool { return other.Dev == st.Dev }) {
			continue
		}
		if err := unix.Syncfs(int(e.file.Fd())); err != nil {
			return &os.PathError{Op: "syncfs", Path: e.file.Name(), Err: err}
		}
		done = append(done, st)
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
