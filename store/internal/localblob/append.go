package localblob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

// keyLock orders the writers of one file within the process, so that they do not poll for the system's lock.
type keyLock struct {
	turn  chan struct{} // holds one token while free
	users int           // guarded by Bucket.mu
}

// AppendLines sees to it that the file at key has each of lines as a line, among any number of writers and
// readers who see the file at any moment. Where there is none it appears whole; else what is missing is appended, one
// write for each line, under the system's lock. The file is never replaced, and a last line without end is ended first. A line
// may be empty; one with a line break in it is refused (fs.ErrInvalid).
func (b *Bucket) AppendLines(ctx context.Context, key string, lines []string) error {
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			return &fs.PathError{Op: "append", Path: key, Err: fmt.Errorf("line %q has a line break: %w", line, fs.ErrInvalid)}
		}
	}
	root, err := b.writer()
	if err != nil {
		return err
	}
	p := pathOf(key)
	release, err := b.turn(ctx, p)
	if err != nil {
		return err
	}
	defer release()
	for range maxTries {
		done, err := b.appendOnce(ctx, root, p, lines)
		if done || err != nil {
			return err
		}
	}
	return &fs.PathError{Op: "append", Path: p, Err: fmt.Errorf("removed %d times: %w", maxTries, fs.ErrNotExist)}
}

// appendOnce makes or extends the file; false means that it came or went meanwhile.
func (b *Bucket) appendOnce(ctx context.Context, root *os.Root, p string, lines []string) (bool, error) {
	f, err := root.OpenFile(p, os.O_RDWR|os.O_APPEND|readFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := b.Create(ctx, keyOf(p), joinLines(lines))
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, err
	}
	if err != nil {
		return false, outside(p, err)
	}
	defer f.Close() // nothing is buffered and Sync has been checked
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, &fs.PathError{Op: "append", Path: p, Err: fmt.Errorf("not a regular file: %w", fs.ErrInvalid)}
	}
	if err := filelock.Wait(ctx, f); err != nil {
		return false, err
	}
	there, err := root.Stat(p)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(info, there)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, b.extend(root, f, p, lines)
}

// extend appends what is missing to the locked file and makes it durable, also what another has just appended, unless
// this process has seen all of it on disk before. It lets go of the lock before that, so that one flush of the disk
// serves all who wait for one.
func (b *Bucket) extend(root *os.Root, f *os.File, p string, lines []string) error {
	known, err := b.readLines(f, p)
	if err != nil {
		return err
	}
	if known.kept(lines) && b.isSynced(p) {
		return nil
	}
	size, err := b.appendMissing(f, known, lines)
	if err != nil {
		return err
	}
	if err := filelock.Release(f); err != nil {
		return err
	}
	if err := b.sys.syncFile(f); err != nil {
		return err
	}
	known.flushed = size // the turn is ours until the end
	if b.isSynced(p) {
		return nil
	}
	// Its maker may have died between naming the file and making the name durable.
	fresh, err := b.makeDir(root, path.Dir(p))
	if err != nil {
		return err
	}
	if err := b.syncPath(root, path.Dir(p), fresh); err != nil {
		return err
	}
	b.setSynced(p)
	return nil
}

// appendMissing returns how long the file is then.
func (b *Bucket) appendMissing(f *os.File, known *lineSet, lines []string) (size int64, err error) {
	size = known.size + int64(len(known.open))
	for _, add := range known.missing(lines) {
		n, err := b.sys.write(f, add)
		if err != nil {
			return size, errors.Join(err, undo(f, size, n))
		}
		size += int64(n)
	}
	return size, nil
}

// undo takes back the part of a line that was written.
func undo(f *os.File, size int64, n int) error {
	if n <= 0 {
		return nil
	}
	return f.Truncate(size)
}

func joinLines(lines []string) []byte { return bytes.Join(newLineSet(nil).missing(lines), nil) }

// turn waits until no other goroutine extends the file at p. The caller calls release.
func (b *Bucket) turn(ctx context.Context, p string) (release func(), err error) {
	b.mu.Lock()
	l := b.locks[p]
	if l == nil {
		l = &keyLock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		b.locks[p] = l
	}
	l.users++
	b.mu.Unlock()
	leave := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(b.locks, p)
		}
	}
	select {
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	case <-l.turn:
		return func() { l.turn <- struct{}{}; leave() }, nil
	}
}
