package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	fileName = "heirloom.toml"
	dotName  = ".heirloom" // a file of this name is configuration, a directory is a store
)

// project is what the search upward from the working directory found; "" = none.
type project struct {
	file     string // the nearest configuration file
	storeDir string // the nearest directory .heirloom
}

// dirWins reports that the store directory is nearer than the file, which then does not name the store.
func (p project) dirWins() bool {
	return p.storeDir != "" && len(filepath.Dir(p.storeDir)) > len(filepath.Dir(p.file))
}

// findProject walks from dir to the root of the file system, as git does.
func findProject(dir string) (project, error) {
	var found project
	for {
		here, err := look(dir)
		if err != nil {
			return project{}, err
		}
		found.file = cmp.Or(found.file, here.file)
		found.storeDir = cmp.Or(found.storeDir, here.storeDir)
		parent := filepath.Dir(dir)
		if parent == dir || found.file != "" && found.storeDir != "" {
			return found, nil
		}
		dir = parent
	}
}

// look returns the configuration file and the store directory that lie in dir itself.
func look(dir string) (project, error) {
	var here project
	plain, dotted := filepath.Join(dir, fileName), filepath.Join(dir, dotName)
	switch info, err := os.Stat(dotted); {
	case err == nil && info.IsDir():
		here.storeDir = dotted
	case err == nil:
		here.file = dotted
	case !passable(err):
		return project{}, err
	}
	if _, err := os.Stat(plain); err != nil {
		if !passable(err) {
			return project{}, err
		}
		return here, nil
	}
	if here.file != "" {
		return project{}, invalid("read configuration: both %s and %s exist, keep one of them", plain, dotted)
	}
	here.file = plain
	return here, nil
}

// passable reports an error that means nothing of ours is to be seen here.
func passable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
