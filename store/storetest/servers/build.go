package servers

import (
	"bytes"
	"encoding/json"
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
	edits   []edit // of its source, whose module is pkg, before it is built; nil for none
}

// edit puts one text in the place of another, wherever that is in a file.
type edit struct{ file, old, new string }

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
	if p.edits == nil {
		_, err = p.goTool(dir, dir, "install", p.pkg+"@"+p.version) // outside of any module
	} else {
		err = p.buildEdited(dir)
	}
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(dir, p.name), file)
}

// buildEdited builds a copy of the source with the edits in it.
func (p program) buildEdited(dir string) error {
	out, err := p.goTool(dir, dir, "mod", "download", "-json", p.pkg+"@"+p.version)
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return fmt.Errorf("find the source of %s: %w", p.name, err)
	}
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS(module.Dir)); err != nil {
		return err
	}
	for _, e := range p.edits {
		if err := e.apply(source); err != nil {
			return fmt.Errorf("edit %s: %w", p.name, err)
		}
	}
	_, err = p.goTool(source, dir, "build", "-o", filepath.Join(dir, p.name), ".")
	return err
}

func (e edit) apply(source string) error {
	file := filepath.Join(source, filepath.FromSlash(e.file))
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(e.old)) {
		return fmt.Errorf("%s does not hold %q", e.file, e.old)
	}
	return os.WriteFile(file, bytes.ReplaceAll(text, []byte(e.old), []byte(e.new)), 0o600)
}

// goTool runs go in dir, which installs into bin, and gives its output.
func (p program) goTool(dir, bin string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+bin, "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s%s", p.name, err, out, &told)
	}
	return out, nil
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
