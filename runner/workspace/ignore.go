package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ignoreNames are the files that say what to leave out. The first that lies in
// the root of the tree counts, there and in all directories below; none of the
// others does.
func ignoreNames() []string { return []string{".heirloomignore", ".torchxignore", ".gitignore"} }

const maxIgnoreBytes = 16 << 20 // of an ignore file; more is a mistake

// level is a directory with the rules of its own ignore file.
type level struct {
	up    *level // nil at the top
	path  string // slash path relative to the root of the tree, "" for the root itself
	above string // of a level above the root: from there to the root, ending in a slash
	rules []rule
}

// ignoreNameOf gives the name of ignore files in the tree at root, "" for none.
func ignoreNameOf(root string) string {
	for _, name := range ignoreNames() {
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	if workTree(root) != "" {
		return ".gitignore"
	}
	return ""
}

// workTree is the root of the git work tree that holds dir, "" if there is none.
func workTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// aboveRoot gives the rules that hold in the tree though they stand above it: those
// of .gitignore files from the root of the work tree down. root is absolute.
func aboveRoot(root, name string) (*level, error) {
	top := workTree(root)
	if name != ".gitignore" || top == "" || top == root {
		return nil, nil
	}
	rel, err := filepath.Rel(top, root)
	if err != nil {
		return nil, err
	}
	var up *level
	elems := strings.Split(filepath.ToSlash(rel), "/")
	for i := range elems {
		dir := filepath.Join(top, filepath.FromSlash(strings.Join(elems[:i], "/")))
		rules, err := readRules(dir, name)
		if err != nil {
			return nil, err
		}
		up = &level{up: up, above: strings.Join(elems[i:], "/") + "/", rules: rules}
	}
	return up, nil
}

// readRules reads the ignore file of a directory, of which there may be none. A
// link is not followed, as git does not.
func readRules(dir, name string) ([]rule, error) {
	if name == "" {
		return nil, nil
	}
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err == nil && info.Size() > maxIgnoreBytes {
		err = fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxIgnoreBytes)
	}
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseRules(string(body)), nil
}

// ignores says whether an entry of the directory is left out. The last rule of
// the nearest ignore file with one that matches decides.
func (l *level) ignores(name string, dir bool) bool {
	path := name
	if l.path != "" {
		path = l.path + "/" + name
	}
	for at := l; at != nil; at = at.up {
		own := at.above + path
		if at.path != "" {
			own = strings.TrimPrefix(path, at.path+"/")
		}
		for _, r := range slices.Backward(at.rules) {
			if r.match(own, name, dir) {
				return !r.negative
			}
		}
	}
	return false
}
