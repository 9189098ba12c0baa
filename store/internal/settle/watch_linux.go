package settle

import (
	"bytes"
	"encoding/binary"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// watcher notes which files were closed after writing, or renamed into place.
// What it says is a hint: the kernel drops events when its queue is full, and
// has none for other machines.
type watcher struct {
	root string
	fd   int              // -1 = there are no watches to be had
	dirs map[int32]string // slash paths by watch
	done map[string]bool  // slash paths of files
}

func newWatcher(root string) *watcher {
	w := &watcher{root: root, fd: -1, dirs: map[int32]string{}, done: map[string]bool{}}
	if fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err == nil {
		w.fd = fd
	}
	return w
}

func (w *watcher) close() error {
	if w.fd < 0 {
		return nil
	}
	fd := w.fd
	w.fd = -1
	return unix.Close(fd)
}

// add watches a directory; once more changes nothing, unless it was renamed.
func (w *watcher) add(dir string) {
	if w.fd < 0 {
		return
	}
	const events = unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_CREATE | unix.IN_DELETE | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW
	if wd, err := unix.InotifyAddWatch(w.fd, filepath.Join(w.root, filepath.FromSlash(dir)), events); err == nil {
		w.dirs[int32(wd)] = dir
	}
}

// finished says that the file was closed or came by a rename, and was not made
// anew since.
func (w *watcher) finished(file string) bool { return w.done[file] }

// drain takes in all events there are.
func (w *watcher) drain() {
	if w.fd < 0 {
		return
	}
	b := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, b)
		if err != nil || n <= 0 {
			return // EAGAIN: no more
		}
		w.take(b[:n])
	}
}

// take reads events: watch, mask, cookie, length of the name, name.
func (w *watcher) take(b []byte) {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
		if end > len(b) {
			return
		}
		name := string(bytes.TrimRight(b[unix.SizeofInotifyEvent:end], "\x00"))
		b = b[end:]
		dir, known := w.dirs[wd]
		switch file := path.Join(dir, name); {
		case mask&unix.IN_Q_OVERFLOW != 0:
			clear(w.done) // what was closed may be open again
		case mask&unix.IN_IGNORED != 0:
			delete(w.dirs, wd)
		case !known:
		case mask&(unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO) != 0:
			w.done[file] = true
		default:
			delete(w.done, file)
		}
	}
}
