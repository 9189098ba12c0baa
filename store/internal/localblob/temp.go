package localblob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	// sweepAge is far beyond the longest pause in a write that still goes on.
	sweepAge = 24 * time.Hour
	// sweepSample bounds what the first write of a process looks at in a large directory.
	sweepSample = 4096
)

// newTemp makes an empty temporary file in the directory itself.
func (b *Bucket) newTemp(root *os.Root) (*os.File, string, error) {
	for {
		name := keyname.NewTemp()
		f, err := root.OpenFile(name, b.tempFlags()|os.O_CREATE|os.O_EXCL, 0o640)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}

// tempFlags avoid what a file system that is written in sequence may take for a wish to do otherwise.
func (b *Bucket) tempFlags() int {
	if b.seq {
		return os.O_WRONLY
	}
	return os.O_RDWR | fileFlag
}

// Sweep removes the temporary files that nobody has written to for at least age, those of uploads only after eight days
// unless age is 0, and says how many. What a crash
// leaves behind costs space and nothing else; the first write of each process sweeps a bounded part.
func (b *Bucket) Sweep(ctx context.Context, age time.Duration) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	root, err := b.reader()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return sweep(root, -1, age)
}

// sweep looks at the first limit names of the root, all if limit is negative.
func sweep(root *os.Root, limit int, age time.Duration) (int, error) {
	dir, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	removed := 0
	for _, name := range names {
		if !keyname.IsTemp(name) {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < graceOf(name, age) {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// graceOf is longer for the parts of an upload, which another process may go on with.
func graceOf(name string, age time.Duration) time.Duration {
	if age > 0 && strings.HasSuffix(name, uploadEnd) {
		return max(age, uploadAge)
	}
	return age
}
