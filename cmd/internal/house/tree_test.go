// Package house holds the rules of the source tree, written as ordinary tests: they read every Go file of the module
// and name the file and line that breaks a rule. It has no code of its own.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of the tree's root; a file's imports below it are ours.
const module = "github.com/heirloom-ml/heirloom"

// source is one Go file of the tree.
type source struct {
	path string // relative to the root, with slashes
	test bool   // belongs to tests only
	file *ast.File
	fset *token.FileSet
	size int // lines
}

// dir is the folder of the file, "." for the root.
func (s source) dir() string { return path.Dir(s.path) }

// layer is the first element of the file's folder: the unit in which imports are ordered.
func (s source) layer() string {
	first, _, _ := strings.Cut(s.path, "/")
	return first
}

// at names a place in the file for a failure message.
func (s source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(pos).Line)
}

// targets lists the import paths of the file.
func (s source) targets() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, target)
	}
	return paths
}

// names maps the name under which the file uses an import to the import's path.
// Without an explicit name it is the path's last element, which holds for every package the rules ask about.
func (s source) names() map[string]string {
	names := map[string]string{}
	for i, target := range s.targets() {
		if alias := s.file.Imports[i].Name; alias != nil {
			names[alias.Name] = target
		} else {
			names[path.Base(target)] = target
		}
	}
	return names
}

// tree reads every Go file of the module, in order of path.
func tree(t *testing.T) []source {
	t.Helper()
	root := os.DirFS(moduleRoot(t))
	var files []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		s, err := parse(root, name)
		files = append(files, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("read %d Go files, which cannot be the whole tree", len(files))
	}
	return files
}

// parse reads one file with its comments.
func parse(root fs.FS, name string) (source, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return source{}, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	return source{path: name, test: forTests(name), file: file, fset: fset, size: strings.Count(string(text), "\n")}, nil
}

// forTests reports whether a file serves tests alone: a test file, or a conformance suite and what it runs on.
func forTests(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "store/storetest/") || strings.HasPrefix(name, "runner/runnertest/") || strings.HasPrefix(name, "lineage/lineagetest/")
}

// moduleRoot is the nearest folder above the test's own that holds go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

// packages groups the files that are not tests by folder, in order of folder.
func packages(files []source) (map[string][]source, []string) {
	byDir := map[string][]source{}
	for _, s := range files {
		if !strings.HasSuffix(s.path, "_test.go") {
			byDir[s.dir()] = append(byDir[s.dir()], s)
		}
	}
	var dirs []string
	for dir := range byDir {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return byDir, dirs
}
