package servers

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// tree is the files and directories of a workspace by their clean absolute paths.
type tree struct {
	mu    sync.Mutex // guards nodes, and what they hold
	nodes map[string]*node
}

// node is a file or a directory. data is replaced and never changed in place, so that a reader keeps what it has.
type node struct {
	isDir    bool
	data     []byte
	modified time.Time
}

func newTree() *tree { return &tree{nodes: map[string]*node{"/": {isDir: true}}} }

// get is a copy of what lies at p.
func (t *tree) get(p string) (node, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.nodes[p]
	if !ok {
		return node{}, false
	}
	return *n, true
}

// mkdirs makes a directory and those above it; false if a file is in the way.
func (t *tree) mkdirs(p string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.makeDirs(p, now)
}

// makeDirs is mkdirs for who holds the lock.
func (t *tree) makeDirs(p string, now time.Time) bool {
	if n, ok := t.nodes[p]; ok {
		return n.isDir
	}
	if !t.makeDirs(path.Dir(p), now) {
		return false
	}
	t.nodes[p] = &node{isDir: true, modified: now}
	return true
}

// outcome of a change of the tree.
type outcome int

const (
	done outcome = iota
	exists
	absent
	inTheWay // a directory where a file is meant, or a file where a directory is
	notEmpty
)

// put makes or replaces a file, and its directories unless strict.
func (t *tree) put(p string, data []byte, overwrite, strict bool, now time.Time) outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, there := t.nodes[p]
	dir, dirThere := t.nodes[path.Dir(p)]
	switch {
	case there && n.isDir:
		return inTheWay
	case there && !overwrite:
		return exists
	case strict && !dirThere:
		return absent
	case dirThere && !dir.isDir || !t.makeDirs(path.Dir(p), now):
		return inTheWay
	}
	t.nodes[p] = &node{data: data, modified: now}
	return done
}

// grow appends to a file, behind what its readers have.
func (t *tree) grow(p string, data []byte, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.nodes[p]; ok {
		t.nodes[p] = &node{data: append(n.data, data...), modified: now}
	}
}

// move renames a file, into a directory if one has the name.
func (t *tree) move(from, to string) outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.nodes[from]
	if !ok || n.isDir {
		return absent
	}
	if target, ok := t.nodes[to]; ok {
		if !target.isDir {
			return exists
		}
		to = path.Join(to, path.Base(from))
	}
	dir, ok := t.nodes[path.Dir(to)]
	switch {
	case !ok:
		return absent
	case !dir.isDir:
		return inTheWay
	}
	delete(t.nodes, from)
	t.nodes[to] = n
	return done
}

// remove takes away a file or an empty directory.
func (t *tree) remove(p string) outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.nodes[p]
	if !ok {
		return absent
	}
	if n.isDir && len(t.children(p)) > 0 {
		return notEmpty
	}
	delete(t.nodes, p)
	return done
}

// list is what lies right below a directory, backwards, since the API promises no order.
func (t *tree) list(p string) ([]string, map[string]node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := t.children(p)
	found := map[string]node{}
	for _, child := range names {
		found[child] = *t.nodes[child]
	}
	return names, found
}

func (t *tree) children(p string) []string {
	prefix := strings.TrimSuffix(p, "/") + "/"
	var list []string
	for child := range t.nodes {
		if rest, ok := strings.CutPrefix(child, prefix); ok && rest != "" && !strings.Contains(rest, "/") {
			list = append(list, child)
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

func (t *tree) files() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, p := range slices.Sorted(maps.Keys(t.nodes)) {
		if !t.nodes[p].isDir {
			list = append(list, p)
		}
	}
	return list
}
