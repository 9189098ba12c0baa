//go:build !linux

package localblob

import (
	"errors"
	"os"
)

// renameNew has no portable form; link serves on these systems.
func renameNew(n naming) error {
	return &os.LinkError{Op: "rename", Old: n.temp, New: n.path, Err: errors.ErrUnsupported}
}

// openBelow opens what lies at p below root.
func openBelow(root *os.Root, _ *os.File, p string, flags int) (*os.File, error) {
	return root.OpenFile(p, flags, 0)
}

// appendsInOrder says whether the file system of dir keeps appends and locks whole among all who mount it. Here
// there is no telling network file systems from others, and the answer is the usual one.
func appendsInOrder(*os.File) (bool, error) { return true, nil }

// startWriteback has no form that does not wait.
func startWriteback(*os.File, int64, int64) {}
