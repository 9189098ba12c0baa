package settle

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/intact"
)

// openness is whether any process has a file open for writing.
type openness int

const (
	unknown openness = iota // the system, the file system or the owner does not let us ask
	open
	closed
)

const (
	defaultStable = 5 * time.Second
	// bigFile is from which size on a file must stand still twice as long, where
	// nobody tells that it was closed.
	bigFile = 1 << 30
	// skew is how far the clock of a file server may be off. What was last
	// changed longer ago stands still, if it was never seen before too.
	skew = time.Minute
	// tick is longer than that of a local file system's clock: a second write
	// within one leaves no trace in a file's times.
	tick = 50 * time.Millisecond
)

// Options adjust New. The zero value is the defaults.
type Options struct {
	Stable time.Duration    // for how long a file must stand still; 0 is 5 s
	Now    func() time.Time // the clock; nil is time.Now
}

// Judge remembers how files looked. It is for one tree and one goroutine.
type Judge struct {
	stable time.Duration
	now    func() time.Time
	watch  *watcher
	seen   map[string]sighting
	round  int
}

// sighting is since when a file looks as it does.
type sighting struct {
	id    Identity
	since time.Time
	round int
}

// New returns a judge of the tree at dir, which it begins to watch. The caller closes it.
func New(dir string, opts Options) *Judge {
	j := &Judge{stable: opts.Stable, now: opts.Now, watch: newWatcher(dir), seen: map[string]sighting{}}
	if j.stable == 0 {
		j.stable = defaultStable
	}
	if j.now == nil {
		j.now = time.Now
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, name); err == nil && relErr == nil && d.IsDir() {
			j.Dir(filepath.ToSlash(rel))
		}
		return nil // what cannot be seen is not watched
	})
	return j
}

// Close gives up the watches on directories.
func (j *Judge) Close() error { return j.watch.close() }

// Begin starts a look through the tree: it takes in what was closed or renamed
// since the last, and forgets files that the last did not see.
func (j *Judge) Begin() {
	for path, s := range j.seen {
		if s.round != j.round {
			delete(j.seen, path)
		}
	}
	j.round++
	j.watch.drain()
}

// Dir makes known a directory of the tree by its slash path, "." for its root.
// What happens in it from now on is seen, as far as the system tells.
func (j *Judge) Dir(path string) { j.watch.add(path) }

// Busy says why the file should not be read yet, "" if nothing speaks against
// it. path is its slash path, f is it, open, and id is what Stat says of f. whole
// tells that a mark of its writer vouches for it. The evidence, in order: its
// name; whether any process has it open for writing; the mark; that it was closed
// or renamed since the last look; that it has stood still; its structure.
func (j *Judge) Busy(path string, f *os.File, id Identity, whole bool) string {
	if Temporary(path) {
		return "it has a temporary name"
	}
	state := writers(f)
	if state == open {
		j.note(path, id)
		return "it is open for writing"
	}
	if !whole && !j.still(path, id, state) {
		return fmt.Sprintf("it has not stood still for %v", j.stillFor(id, state))
	}
	if err := intact.Check(path, f, id.Size); err != nil {
		return err.Error()
	}
	return ""
}

func (j *Judge) still(path string, id Identity, state openness) bool {
	since := j.note(path, id)
	now := j.now()
	changed := time.Unix(0, max(id.Changed, id.Modified))
	age := now.Sub(changed)
	if state == closed && age > tick && j.watch.finished(path) {
		return true
	}
	need := j.stillFor(id, state)
	return now.Sub(since) >= need || age >= need+skew
}

func (j *Judge) stillFor(id Identity, state openness) time.Duration {
	if id.Size > bigFile && state == unknown {
		return 2 * j.stable
	}
	return j.stable
}

// note gives since when the file has looked like this.
func (j *Judge) note(path string, id Identity) time.Time {
	s, ok := j.seen[path]
	if !ok || s.id != id {
		s = sighting{id: id, since: j.now()}
	}
	s.round = j.round
	j.seen[path] = s
	return s.since
}
