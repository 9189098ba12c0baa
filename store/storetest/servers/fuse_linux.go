package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// SequentialFUSE mounts an empty file system that refuses what the mounts of Databricks are said to refuse, until the
// test ends: hard and symbolic links, a rename that does not replace, writes at any place but the end of a new file,
// writing to a file that exists, attributes, locks, changes of size or mode, and a flush. It is a stand-in, labelled as
// such: it keeps to the public description of the limits and stores its files in a directory of this machine.
func SequentialFUSE(t testing.TB) string {
	t.Helper()
	return mountFUSE(t, syscall.Errno(0))
}

// RenamelessFUSE is a SequentialFUSE that has no rename either, as some users of volumes report.
func RenamelessFUSE(t testing.TB) string {
	t.Helper()
	return mountFUSE(t, syscall.ENOSYS)
}

func mountFUSE(t testing.TB, rename syscall.Errno) string {
	t.Helper()
	data := t.TempDir()
	dir, err := os.MkdirTemp("", "heirloom-fuse-")
	if err != nil {
		t.Fatal(err)
	}
	root := &fs.LoopbackRoot{Path: data}
	//nolint:staticcheck // what replaces NewNode wraps nodes, and the wrapper has no way to what it wraps
	root.NewNode = func(data *fs.LoopbackRoot, _ *fs.Inode, _ string, _ *syscall.Stat_t) fs.InodeEmbedder {
		return &sequentialNode{LoopbackNode: fs.LoopbackNode{RootData: data}, rename: rename}
	}
	root.RootNode = &sequentialNode{LoopbackNode: fs.LoopbackNode{RootData: root}, rename: rename}
	never := time.Duration(0)
	server, err := fs.Mount(dir, root.RootNode, &fs.Options{
		EntryTimeout: &never, AttrTimeout: &never,
		MountOptions: fuse.MountOptions{DirectMount: true, FsName: "dbfs-stand-in", Name: "dbfs", EnableLocks: true, DisableXAttrs: true},
	})
	if err != nil {
		os.Remove(dir)
		Missing(t, fmt.Errorf("mount a FUSE file system: %w", err), "run as root where /dev/fuse is, or install fuse3", "fuse")
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
		os.Remove(dir)
	})
	t.Logf("FUSE: a stand-in for the mount of Databricks at %s", dir)
	return dir
}

// sequentialNode is a file or directory of the stand-in.
type sequentialNode struct {
	fs.LoopbackNode
	rename syscall.Errno // what Rename answers, 0 to rename
}

func (n *sequentialNode) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.ENOSYS
}

func (n *sequentialNode) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.ENOSYS
}

func (n *sequentialNode) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, to string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	if n.rename != 0 {
		return n.rename
	}
	target, ok := parent.(*sequentialNode)
	if !ok {
		return syscall.EXDEV
	}
	return fs.ToErrno(syscall.Rename(filepath.Join(n.path(), name), filepath.Join(target.path(), to)))
}

// path is that of the file below.
func (n *sequentialNode) path() string {
	return filepath.Join(n.RootData.Path, n.Path(n.Root()))
}

func (n *sequentialNode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if in.Valid&(fuse.FATTR_SIZE|fuse.FATTR_MODE) != 0 {
		return syscall.EOPNOTSUPP
	}
	return n.LoopbackNode.Setattr(ctx, f, in, out)
}

func (n *sequentialNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		return nil, 0, syscall.EOPNOTSUPP
	}
	return n.LoopbackNode.Open(ctx, flags)
}

func (n *sequentialNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_WRONLY {
		return nil, nil, 0, syscall.EOPNOTSUPP
	}
	inode, file, _, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return inode, &sequentialFile{below: file.(*fs.LoopbackFile)}, fuse.FOPEN_DIRECT_IO, 0
}

func (n *sequentialNode) Setlk(context.Context, fs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.EOPNOTSUPP
}

func (n *sequentialNode) Setlkw(context.Context, fs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.EOPNOTSUPP
}

// sequentialFile is a new file that is being written.
type sequentialFile struct {
	below *fs.LoopbackFile

	mu  sync.Mutex // guards end
	end int64
}

func (f *sequentialFile) Write(ctx context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset != f.end {
		return 0, syscall.EOPNOTSUPP
	}
	n, errno := f.below.Write(ctx, data, offset)
	f.end += int64(n)
	return n, errno
}

func (f *sequentialFile) Fsync(context.Context, uint32) syscall.Errno { return syscall.EOPNOTSUPP }

func (f *sequentialFile) Flush(ctx context.Context) syscall.Errno { return f.below.Flush(ctx) }

func (f *sequentialFile) Release(ctx context.Context) syscall.Errno { return f.below.Release(ctx) }

func (f *sequentialFile) Getattr(ctx context.Context, out *fuse.AttrOut) syscall.Errno {
	return f.below.Getattr(ctx, out)
}
