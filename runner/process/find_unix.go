//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Find gives the file that Args[0] names: itself when it has a slash, else the
// first executable of that name in PATH, relative entries of which count from
// Dir. It fails with ErrNotFound or ErrNotExecutable.
func (s *Spec) Find() (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	name := s.Args[0]
	if strings.Contains(name, "/") {
		return name, executable(s.inDir(name), name)
	}
	var refused error
	for _, dir := range filepath.SplitList(lookup(s.Env, "PATH")) {
		file := s.inDir(filepath.Join(dir, name))
		err := executable(file, name)
		if err == nil {
			return filepath.Abs(file)
		}
		if _, absent := os.Stat(file); absent == nil && refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("%w: %s is not in PATH", ErrNotFound, name)
}

func (s *Spec) inDir(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.Dir, file)
}

func executable(file, name string) error {
	info, err := os.Stat(file)
	if err != nil {
		return startError(name, err)
	}
	if info.IsDir() {
		return fmt.Errorf("%w: %s is a directory", ErrNotExecutable, name)
	}
	if unix.Access(file, unix.X_OK) != nil {
		return fmt.Errorf("%w: %s: %w", ErrNotExecutable, name, syscall.EACCES)
	}
	return nil
}
