package localblob

import (
	"errors"
	"os"
	"path"
	"syscall"
)

// system holds the calls that decide when an object becomes visible and durable, so that tests can watch their
// order and make them fail.
type system struct {
	write      func(f *os.File, p []byte) (int, error)
	syncFile   func(f *os.File) error
	syncDir    func(f *os.File) error
	link       func(naming) error
	renameNew  func(naming) error // fails with EEXIST where there is an object
	renameOver func(naming) error
}

var realSystem = system{
	write:      (*os.File).Write,
	syncFile:   (*os.File).Sync,
	syncDir:    syncDirectory,
	link:       link,
	renameNew:  renameNew,
	renameOver: renameOver,
}

// naming gives a temporary file the name of an object.
type naming struct {
	root *os.Root
	top  *os.File // the directory of root
	temp string   // in it
	dir  *os.File // the directory that is to hold the object
	path string   // of the object, relative to root
}

// refused says whether err means that the file system has no such operation, rather than that it failed.
func refused(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EINVAL, syscall.ENOTTY, errors.ErrUnsupported} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// syncDirFile makes the entries of the open directory durable. A file system that cannot is remembered, see
// Capabilities.Durable; any other failure is an error.
func (b *Bucket) syncDirFile(dir *os.File) error {
	err := b.sys.syncDir(dir)
	if err != nil && refused(err) {
		b.syncRefused.Store(true)
		return nil
	}
	return err
}

// syncDir does so for a directory below the root.
func (b *Bucket) syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(b.flush.Dir(f, dir, b.syncDirFile), f.Close())
}

// openParent opens the directory that holds p.
func openParent(root *os.Root, p string) (*os.File, error) { return root.Open(path.Dir(p)) }
