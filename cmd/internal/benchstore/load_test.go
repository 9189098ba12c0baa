package benchstore

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// load is what is moved: one large file, or many small ones.
type load struct {
	name  string
	files int
	size  int64 // bytes of each
	dir   string
	sums  map[string]string // by path below dir
}

func (l load) bytes() int64 { return int64(l.files) * l.size }

// make writes the files, whose bytes nobody can compress, and remembers their hashes.
func (l *load) make(dir string) error {
	l.dir, l.sums = dir, map[string]string{}
	random := rand.NewChaCha8([32]byte{1})
	for i := range l.files {
		name := "model.bin"
		if l.files > 1 {
			name = fmt.Sprintf("part-%02d/%05d.bin", i%50, i)
		}
		sum, err := writeRandom(filepath.Join(dir, name), random, l.size)
		if err != nil {
			return err
		}
		l.sums[name] = sum
	}
	return nil
}

func writeRandom(path string, random io.Reader, size int64) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<16)
	_, err = io.CopyN(w, random, size)
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// check compares a directory with the load.
func (l load) check(dir string) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		found++
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return l.same(filepath.ToSlash(rel), f)
	})
	if err == nil && found != l.files {
		err = fmt.Errorf("%d of %d files arrived", found, l.files)
	}
	return err
}

// same compares one file with the load.
func (l load) same(name string, r io.Reader) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != l.sums[name] {
		return fmt.Errorf("%s has the hash %s, want %s", name, got, l.sums[name])
	}
	return nil
}
