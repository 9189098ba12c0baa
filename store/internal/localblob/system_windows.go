package localblob

import (
	"errors"
	"io/fs"
	"os"
)

const readFlags = os.O_RDONLY

// syncDirectory cannot be had: Windows flushes no directory handle that was opened for reading.
func syncDirectory(*os.File) error { return errors.ErrUnsupported }

// removeDir removes a directory if it is empty.
func removeDir(root *os.Root, dir string) error { return root.Remove(dir) }

// inode is not part of what Windows tells about a file without opening it.
func inode(fs.FileInfo) uint64 { return 0 }

// isOwn is not asked where each user has a temporary directory.
func isOwn(fs.FileInfo) bool { return true }

// hasOtherNames is not known either.
func hasOtherNames(fs.FileInfo) bool { return false }
