package localblob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/groupsync"
)

// Options of a bucket; nil means all defaults.
type Options struct {
	// Shared makes the directory group-writable with the setgid bit (2770) before the first write; one that is another
	// user's is a matter of permission. A directory that already carries that bit is treated so in any case.
	Shared bool

	// Sequential is for a file system that takes writes from front to back only and promises little else, as
	// the mounts of object storage by FUSE: it may have neither link nor an exclusive rename, nor attributes,
	// nor a meaning for fsync. Create then has one winner among the processes of one user on this machine.
	Sequential bool
}

// Bucket is a local directory holding objects. It is safe for concurrent use, by other processes too.
type Bucket struct {
	dirtree.Driver

	dir    string // absolute, clean
	shared bool   // as asked for; what the directory is like counts once it exists
	seq    bool   // Options.Sequential
	sys    system
	flush  groupsync.Group

	mu       sync.Mutex
	root     *os.Root            // guarded by mu; nil until the directory is known to exist
	top      *os.File            // guarded by mu; the same directory, where root is not nil
	group    bool                // guarded by mu; the directory has the setgid bit
	synced   map[string]bool     // guarded by mu; directories, and files appended to, whose own entry is known to be on disk
	locks    map[string]*keyLock // guarded by mu; by path, while in use
	lineSets map[string]*lineSet // guarded by mu; by path, each used by who has the turn of its file
	closed   bool                // guarded by mu

	dirents     sync.Pool // of buffers for entries of directories
	sweepOnce   sync.Once
	linkRefused atomic.Bool
	createFails atomic.Bool
	syncRefused atomic.Bool
}

// Open returns the bucket of dir, relative to the working directory. It makes nothing: a directory that does
// not exist reads as empty and appears with the first write. Where dir is something else, it fails with ENOTDIR.
// The caller closes the bucket.
func Open(dir string, opts *Options) (*Bucket, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", dir, err)
	}
	b := &Bucket{dir: abs, sys: realSystem, synced: map[string]bool{}, locks: map[string]*keyLock{}, lineSets: map[string]*lineSet{}}
	if opts != nil {
		b.shared, b.seq = opts.Shared, opts.Sequential
	}
	if _, err := b.reader(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return b, nil
}

// Dir returns the absolute path of the bucket's directory.
func (b *Bucket) Dir() string { return b.dir }

// Path returns the absolute path of the file that holds key, whether or not it exists.
func (b *Bucket) Path(key string) string {
	return filepath.Join(b.dir, filepath.FromSlash(pathOf(key)))
}

// Close lets go of the directory. Open readers and writers may be finished. It may be called again.
func (b *Bucket) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.root == nil {
		return nil
	}
	err := errors.Join(b.root.Close(), b.top.Close())
	b.root = nil
	return err
}

// reader returns the open directory, or fs.ErrNotExist where there is none.
func (b *Bucket) reader() (*os.Root, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, &fs.PathError{Op: "open", Path: b.dir, Err: fs.ErrClosed}
	}
	if b.root != nil {
		return b.root, nil
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	info, err := top.Stat()
	if err != nil {
		return nil, errors.Join(err, root.Close(), top.Close())
	}
	b.root, b.top, b.group = root, top, info.Mode()&fs.ModeSetgid != 0
	return root, nil
}

// writer returns the open directory, made first where there is none.
func (b *Bucket) writer() (*os.Root, error) {
	root, err := b.reader()
	if errors.Is(err, fs.ErrNotExist) {
		if err := b.makeTop(b.dir); err != nil {
			return nil, err
		}
		root, err = b.reader()
	}
	if err != nil {
		return nil, err
	}
	if b.shared {
		if err := b.shareTop(root); err != nil {
			return nil, err
		}
	}
	b.sweepOnce.Do(func() { _, _ = sweep(root, sweepSample, sweepAge) }) // what it cannot remove only costs space
	return root, nil
}

// makeTop makes the bucket's own directory and what is missing above it, each entry on disk when it returns.
func (b *Bucket) makeTop(dir string) error {
	err := os.Mkdir(dir, b.topMode(dir))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := b.makeTop(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, b.topMode(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if b.shared && dir == b.dir {
		if err := os.Chmod(dir, 0o770|fs.ModeSetgid); err != nil {
			return err
		}
	}
	return b.syncTop(filepath.Dir(dir))
}

// shareTop gives a directory that was there already to its group.
func (b *Bucket) shareTop(root *os.Root) error {
	const wanted = 0o070 | fs.ModeSetgid
	info, err := root.Stat(".")
	if err != nil || info.Mode()&wanted == wanted {
		return err
	}
	if err := root.Chmod(".", info.Mode()|0o770|fs.ModeSetgid); err != nil {
		return &fs.PathError{Op: "share with its group", Path: b.dir, Err: errors.Unwrap(err)}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.group = true
	return nil
}

func (b *Bucket) topMode(dir string) fs.FileMode {
	if b.shared && dir == b.dir {
		return 0o770
	}
	return 0o750
}

func (b *Bucket) syncTop(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a directory one may pass but not read; its entry is not ours to make durable
	}
	if err != nil {
		return err
	}
	return errors.Join(b.syncDirFile(f), f.Close())
}
