package localblob

import (
	"errors"
	"io/fs"
	"os"
)

const readFlags = os.O_RDONLY

// syncDirectory cannot be had: Windows flushes no directory handle that was opened for reading.
func syncDirectory(*os.File) error { return errors.ErrUnsupported }

// dirFlag and fileFlag have no form.
const (
	dirFlag  = 0
	fileFlag = 0
)

func link(n naming) error { return n.root.Link(n.temp, n.path) }

// renameOver puts the file in place of what has the name.
func renameOver(n naming) error { return n.root.Rename(n.temp, n.path) }

// removeDir removes a directory if it is empty.
func removeDir(root *os.Root, dir string) error { return root.Remove(dir) }

// inode is not part of what Windows tells about a file without opening it.
func inode(fs.FileInfo) uint64 { return 0 }

// isOwn is not asked where each user has a temporary directory.
func isOwn(fs.FileInfo) bool { return true }

// hasOtherNames is not known either.
func hasOtherNames(fs.FileInfo) bool { return false }
