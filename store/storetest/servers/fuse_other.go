//go:build !linux

package servers

import (
	"errors"
	"testing"
)

// SequentialFUSE is for Linux alone.
func SequentialFUSE(t testing.TB) string {
	t.Helper()
	Missing(t, errors.New("the stand-in for a FUSE mount is for Linux alone"), "run the test on Linux", "fuse")
	return ""
}

// RenamelessFUSE is for Linux alone.
func RenamelessFUSE(t testing.TB) string {
	t.Helper()
	return SequentialFUSE(t)
}
