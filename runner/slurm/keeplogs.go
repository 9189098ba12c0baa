package slurm

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyLogs puts the logs of the job directory where the run's outputs are stored
// from: links where that is the same file system.
func copyLogs(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if !d.Type().IsRegular() || os.Link(path, target) == nil {
			return nil
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// within says whether a path lies below a directory.
func within(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}
