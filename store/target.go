package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

const (
	// openDirsAtMost is how many directories a target keeps open that nobody writes to.
	openDirsAtMost = 64
	// wholeMark is in the names of part files that are written at once, which
	// nothing can be taken up of.
	wholeMark = "whole-"
)

// target is the local directory that a transfer of many files fills. It keeps
// open what it wrote to of late, which spares a small file most calls of the
// system.
type target struct {
	root *os.Root

	mu   sync.Mutex            // guards dirs and the users of each
	dirs map[string]*targetDir // by slash path below root
}

type targetDir struct {
	*os.Root
	users int
}

func newTarget(root *os.Root) *target { return &target{root: root, dirs: map[string]*targetDir{}} }

// enter opens a directory, made where it is missing. The caller leaves it.
func (t *target) enter(name string) (*targetDir, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.dirs[name]
	if d == nil {
		root, err := t.open(name)
		if err != nil {
			return nil, err
		}
		dropDead(root)
		t.closeIdle()
		d = &targetDir{Root: root}
		t.dirs[name] = d
	}
	d.users++
	return d, nil
}

func (t *target) open(name string) (*os.Root, error) {
	if name != "." {
		if err := t.root.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
	}
	return t.root.OpenRoot(name)
}

// closeIdle makes room for one more. mu is held.
func (t *target) closeIdle() {
	for name, d := range t.dirs {
		if len(t.dirs) < openDirsAtMost {
			return
		}
		if d.users == 0 {
			d.Close() // of a directory, it says nothing
			delete(t.dirs, name)
		}
	}
}

func (t *target) leave(d *targetDir) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d.users--
}

// close lets go of all directories but the root.
func (t *target) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.dirs {
		d.Close() // as above
	}
	clear(t.dirs)
}

// write makes the file of that name, a slash path, of body: beside its place, and
// renamed. With create it is ErrExist if there is one.
func (t *target) write(name string, body []byte, create bool) error {
	dir, base := path.Split(name)
	d, err := t.enter(path.Clean(dir))
	if err != nil {
		return err
	}
	defer t.leave(d)
	p := &partFile{root: d.Root, dir: ".", id: wholeMark + newWriteID()[:16]}
	if p.file, err = d.OpenFile(p.name(partEnd), os.O_WRONLY|os.O_CREATE|os.O_EXCL|sourceFlags, 0o666); err != nil {
		return fmt.Errorf("write into %s: %w", d.Name(), err)
	}
	if err := p.fill(body); err != nil {
		return errors.Join(err, p.close(), p.drop())
	}
	if err := p.publish(base, create); err != nil {
		if there, statErr := d.Lstat(base); statErr == nil && there.IsDir() {
			err = invalid(fmt.Errorf("%s is a directory", name))
		}
		return errors.Join(err, p.close(), p.drop())
	}
	return p.close()
}

// fill writes the file, locked while it is at work so that others know. Where
// there are no locks it may be a file system that takes the file only when it is
// closed.
func (p *partFile) fill(body []byte) error {
	_, locking := filelock.Try(p.file)
	if _, err := p.file.Write(body); err != nil {
		return err
	}
	if locking != nil {
		return p.closeFile()
	}
	return nil
}

// dropDead removes what transfers that were killed left of files which they wrote
// at once. It does what it can.
func dropDead(root *os.Root) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, partStart+wholeMark) && strings.HasSuffix(name, partEnd) && isDead(root, name) {
			_ = root.Remove(name)
		}
	}
}

// isDead reports whether nobody is at work on a part file: by its lock, and where
// there are no locks by its age.
func isDead(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.OpenFile(name, os.O_RDWR|sourceFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		defer f.Close() // which gives the lock back
		if free, err := filelock.Try(f); err == nil {
			return free
		}
	}
	return time.Since(info.ModTime()) > abandoned
}
