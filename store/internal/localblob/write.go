package localblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// maxTries bounds how often a write makes its directory again because a concurrent Delete removed it as empty.
const maxTries = 100

// Writer writes one object. Nothing is visible before Commit. Not safe for concurrent use.
type Writer struct {
	b     *Bucket
	ctx   context.Context // of the one write that a Writer is; gocloud's interface gives it here and nowhere else
	root  *os.Root
	top   *os.File // the directory of root
	path  string
	temp  string
	file  *os.File
	attrs attrs.Set
	head  []byte // the first bytes, for telling whether a content type is the one that readers would find; nil without attributes
	err   error  // the first failure; what follows it has no effect
}

// Put replaces the object at key.
func (b *Bucket) Put(ctx context.Context, key string, body []byte) (dirtree.Object, error) {
	return b.writeAll(ctx, key, body, dirtree.Replace)
}

// Create makes the object at key, or fails with fs.ErrExist.
func (b *Bucket) Create(ctx context.Context, key string, body []byte) (dirtree.Object, error) {
	if err := b.taken(ctx, key); err != nil {
		return dirtree.Object{}, err
	}
	return b.writeAll(ctx, key, body, dirtree.Create)
}

// taken spares who comes late the file and its flush. Only publishing decides.
func (b *Bucket) taken(ctx context.Context, key string) error {
	root, err := b.reader()
	if err != nil || key == "" || ctx.Err() != nil {
		return ctx.Err()
	}
	if info, err := root.Lstat(pathOf(key)); err == nil && info.Mode().IsRegular() {
		return &fs.PathError{Op: "create", Path: pathOf(key), Err: fs.ErrExist}
	}
	return nil
}

func (b *Bucket) writeAll(ctx context.Context, key string, body []byte, mode dirtree.Mode) (dirtree.Object, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return dirtree.Object{}, err
	}
	if _, err := w.Write(body); err != nil {
		return dirtree.Object{}, errors.Join(err, w.Abort())
	}
	return w.Commit(mode)
}

// NewWriter begins an object. The caller ends it with Commit or Abort.
func (b *Bucket) NewWriter(ctx context.Context, key string) (*Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if key == "" {
		return nil, &fs.PathError{Op: "write", Path: b.dir, Err: fmt.Errorf("empty key: %w", fs.ErrInvalid)}
	}
	root, err := b.writer()
	if err != nil {
		return nil, err
	}
	f, temp, err := b.newTemp(root)
	if err != nil {
		return nil, err
	}
	_, top := b.opened()
	return &Writer{b: b, ctx: ctx, root: root, top: top, path: pathOf(key), temp: temp, file: f}, nil
}

// Write adds to the object.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.b.sys.write(w.file, p)
	if room := sniffLen - len(w.head); room > 0 && !w.attrs.IsZero() {
		w.head = append(w.head, p[:min(n, room)]...)
	}
	w.err = err
	return n, err
}

// Abort drops what was written. After Commit or Abort it does nothing.
func (w *Writer) Abort() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Close(), w.root.Remove(w.temp))
	w.file = nil
	return err
}

// Commit makes the object durable, then visible, then its visibility durable. When it fails with anything but
// an error of that last step, nothing has changed; it leaves no temporary file in any case.
func (w *Writer) Commit(mode dirtree.Mode) (dirtree.Object, error) {
	if w.file == nil {
		return dirtree.Object{}, fs.ErrClosed
	}
	info, err := w.settle()
	if err != nil {
		return dirtree.Object{}, errors.Join(err, w.Abort())
	}
	err = w.file.Close()
	w.file = nil
	if err == nil {
		err = w.publish(mode)
	}
	if err != nil {
		w.removeTemp()
		return dirtree.Object{}, err
	}
	if w.b.seq { // size and time may be those of the upload, which close ends
		if now, err := w.root.Stat(w.path); err == nil {
			info = now
		}
	}
	return newObject(keyOf(w.path), info), nil
}

// settle gives the temporary file its attributes and mode, and makes it durable.
func (w *Writer) settle() (fs.FileInfo, error) {
	if w.err != nil {
		return nil, w.err
	}
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if err := setAttributes(w.file, w.attrs, w.head); err != nil {
		return nil, err
	}
	if w.b.isGroup() {
		if err := w.file.Chmod(0o660); err != nil {
			return nil, err
		}
	}
	if err := w.b.flush.File(w.file, w.b.sys.syncFile); err != nil && (!w.b.seq || !refused(err)) {
		return nil, err
	}
	return w.file.Stat()
}

// publish gives the settled file its name.
func (w *Writer) publish(mode dirtree.Mode) error {
	dir := path.Dir(w.path)
	for range maxTries {
		again, err := w.publishIn(dir, mode)
		if !again {
			return err
		}
		top, _, _ := strings.Cut(dir, "/")
		w.b.forget(top)
	}
	return &fs.PathError{Op: "write", Path: w.path, Err: fmt.Errorf("its directory was removed %d times: %w", maxTries, fs.ErrNotExist)}
}

// publishIn does so once; again says that the directory was removed meanwhile.
func (w *Writer) publishIn(dir string, mode dirtree.Mode) (again bool, err error) {
	fresh, err := w.b.makeDir(w.root, dir)
	parent := w.top
	if err == nil && dir != "." {
		if parent, err = openBelow(w.root, w.top, dir, os.O_RDONLY|dirFlag); err == nil {
			defer parent.Close() // of a directory, it says nothing
		}
	}
	if err == nil {
		err = w.name(naming{root: w.root, top: w.top, temp: w.temp, dir: parent, path: w.path}, mode)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != ".":
		return true, nil
	case err != nil:
		return false, w.explain(err)
	}
	if err = w.b.flush.Dir(parent, dir, w.b.syncDirFile); err == nil {
		err = w.b.syncFresh(w.root, fresh)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // deleted since, with its directory
	}
	return false, err
}

func (w *Writer) name(n naming, mode dirtree.Mode) error {
	if mode == dirtree.Create {
		return w.claim(n)
	}
	return w.rename(n)
}

// rename puts the file in place of what has the name.
func (w *Writer) rename(n naming) error {
	err := w.b.sys.renameOver(n)
	if err != nil && w.b.seq && refused(err) && !errors.Is(err, syscall.EPERM) {
		return &fs.PathError{Op: "write", Path: w.path, Err: fmt.Errorf("%w: the file system does not rename: %w", errors.ErrUnsupported, err)}
	}
	return err
}

// claim names the file where no other has the name, by the first means that the file system has.
func (w *Writer) claim(n naming) error {
	if !w.b.linkRefused.Load() {
		err := w.b.sys.link(n)
		if err == nil || w.isOurs(err) {
			w.removeTemp()
			return nil
		}
		if !refused(err) {
			return err
		}
		w.b.linkRefused.Store(true)
	}
	err := w.b.sys.renameNew(n)
	if err != nil && refused(err) && w.b.seq {
		return w.claimLocked(n)
	}
	if err != nil && refused(err) {
		w.b.createFails.Store(true)
		return &fs.PathError{Op: "create", Path: w.path, Err: fmt.Errorf("%w: the file system has neither link nor rename without replacing", errors.ErrUnsupported)}
	}
	return err
}

// isOurs says whether a link failed only because an earlier, repeated request of a network file system made it.
func (w *Writer) isOurs(err error) bool {
	if !errors.Is(err, fs.ErrExist) {
		return false
	}
	temp, err1 := w.root.Lstat(w.temp)
	there, err2 := w.root.Lstat(w.path)
	return err1 == nil && err2 == nil && os.SameFile(temp, there)
}

// explain tells a directory in the way from an object.
func (w *Writer) explain(err error) error {
	info, statErr := w.root.Lstat(w.path)
	if statErr == nil && info.IsDir() {
		return &fs.PathError{Op: "write", Path: w.path, Err: syscall.EISDIR}
	}
	return outside(w.path, err)
}

// removeTemp drops the temporary name. A failure leaves a file that Sweep will find.
func (w *Writer) removeTemp() { _ = w.root.Remove(w.temp) }
