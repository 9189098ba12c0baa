package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What a group shares it may read and write, whatever the umask of who makes it;
// in its directories the group stays that of the one above.
const (
	sharedDir  = 0o770 | fs.ModeSetgid
	sharedFile = 0o660
)

// shareDirs opens the directories of the run to the group, if the store is shared
// by one and the job writes right into it.
func (r *run) shareDirs(dirs ...string) error {
	root, inPlace := r.Store.LocalPath("")
	if !r.shared || !inPlace || !r.place.inPlace {
		return nil
	}
	for _, dir := range dirs {
		for ; strings.HasPrefix(dir, root+string(filepath.Separator)); dir = filepath.Dir(dir) {
			if err := share(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// shareOutputs does so for what the job made.
func (r *run) shareOutputs() error {
	if !r.shared || !r.place.inPlace {
		return nil
	}
	return filepath.WalkDir(r.place.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil // another's
		}
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		return share(path)
	})
}

// share adds to the mode of what is ours. What another made is theirs to share.
func share(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("share with the group: %w", err)
	}
	mode := info.Mode() | sharedFile
	if info.IsDir() {
		mode = info.Mode() | sharedDir
	}
	if mode == info.Mode() {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("share with the group: %w", err)
	}
	return nil
}
