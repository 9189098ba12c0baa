package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// program is a server that is built from a Go module.
type program struct {
	name    string
	pkg     string // import path of its main package
	version string
}

func (p program) install() string {
	return fmt.Sprintf("CGO_ENABLED=0 go install %s@%s", p.pkg, p.version)
}

// path gives the binary, built if this version is not in the cache yet.
func (p program) path() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(cache, "bin", p.name+"-"+p.version)
	err = once(file, func() error { return p.build(file) })
	return file, err
}

// build installs into a directory of its own and renames, so that nobody sees
// half a binary.
func (p program) build(file string) error {
	dir, err := os.MkdirTemp(filepath.Dir(file), ".build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "install", p.pkg+"@"+p.version)
	cmd.Dir = dir // outside of any module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+dir, "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.name, err, out)
	}
	return os.Rename(filepath.Join(dir, p.name), file)
}

// once makes path with make unless it exists, one process at a time.
func once(path string, make func() error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil // another process made it meanwhile
	}
	return make()
}
