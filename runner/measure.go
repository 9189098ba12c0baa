package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// measure sets what the hash mode asks for of a local file, and makes sure that
// the file will outlive a power failure, as its record does.
func (d *Describer) measure(ctx context.Context, path, name string, m *pyjson.Object) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	if d.durable {
		_ = f.Sync() // refused for files opened for reading on some systems
	}
	if d.Hash == HashNone {
		return nil
	}
	m.Set(tracker.KeySizeBytes, before.Size())
	if d.Hash == HashSize {
		return nil
	}
	digest, n, err := digestOf(ctx, f)
	if err != nil {
		return err
	}
	if after, err := f.Stat(); err != nil || n != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		d.warnf("output %s was written to while it was registered", name)
	}
	m.Set(tracker.KeySizeBytes, n)
	m.Set(tracker.KeySHA256, string(digest))
	return nil
}

// openRegular opens a file and makes sure that it is one: the open of a FIFO that
// took its place would wait for ever.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// measureTree does for a directory what measure does for a file.
func (d *Describer) measureTree(ctx context.Context, dir string, m *pyjson.Object) error {
	var sum tree
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		one := &pyjson.Object{}
		if err := d.measure(ctx, path, rel, one); err != nil {
			return err
		}
		sum.add(filepath.ToSlash(rel), one)
		return nil
	})
	if err != nil {
		return err
	}
	sum.describe(m, d.Hash)
	return nil
}
