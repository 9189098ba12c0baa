package benchlineage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fillVariable names the directory of indexes in which this binary, called with a number of runs, fills one of a root of
// so many that is not written.
const fillVariable = "HEIRLOOM_BENCH_FILL"

// rootOf is the root of so many runs, with 1,001 more that come later.
func rootOf(runs int) *lineagetest.Root {
	return lineagetest.New(lineagetest.Options{Runs: runs + 1001, Seed: 1})
}

// fillVirtual fills an index and says how long that alone took, and with how many requests.
func fillVirtual(ctx context.Context, dir string, args []string) error {
	runs, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	virtual := store.FromBucket(newBucket(rootOf(runs), runs), virtualURL(runs), nil)
	defer virtual.Close()
	x, err := index.Open(ctx, tracker.NewFileTracker(virtual, nil), index.Options{Dir: dir})
	if err != nil {
		return err
	}
	begun := time.Now()
	done, err := x.Refresh(ctx)
	fmt.Printf("%d runs in %f seconds\nrequests: %d\n", done.Read, time.Since(begun).Seconds(), virtual.Stats().Total())
	return errors.Join(err, x.Close())
}

func virtualURL(runs int) string { return "virtual://" + strconv.Itoa(runs) }

// virtual makes an index of a root that is not written, and of that the one run that is shown, which is read from the root.
func (s *site) virtual(t *testing.T) {
	dir := filepath.Join(s.cache, "heirloom", "index")
	real := s.indexFile(t)
	if _, err := os.Stat(real); err == nil && !s.wants("build index, memory", "heirloom") {
		return // it was kept
	}
	if err := errors.Join(os.RemoveAll(s.cache), s.root.Write(t.Context(), filepath.Join(s.place, "tracker"), s.at, s.at+1)); err != nil {
		t.Fatal(err)
	}
	u, err := usage.Measure(t.Context(), []string{os.Args[0], strconv.Itoa(s.runs)}, append(os.Environ(), fillVariable+"="+dir))
	if err != nil {
		t.Fatal(err)
	}
	one := result{tool: "heirloom", runs: s.runs, took: u}
	var read int
	var seconds float64
	if _, err := fmt.Sscanf(u.Said, "%d runs in %f seconds\nrequests: %s", &read, &seconds, &one.requests); err != nil || read != s.runs {
		t.Fatalf("an index of %d runs is filled: %q", s.runs, u.Said)
	}
	one.inside = time.Duration(seconds * float64(time.Second))
	s.add(t, "build index, memory", one)
	filled, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
	if err != nil || len(filled) != 1 {
		t.Fatalf("indexes: %v, error %v", filled, err)
	}
	if err := os.Rename(filled[0], real); err != nil {
		t.Fatal(err)
	}
}

// indexFile is where the command keeps the index of the site.
func (s *site) indexFile(t *testing.T) string {
	real, err := store.Open(t.Context(), filepath.Join(s.place, "tracker"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	return index.File(tracker.NewFileTracker(real, nil), filepath.Join(s.cache, "heirloom", "index"))
}

// aged makes the index as old as is said, so that questions find it young enough, or too old.
func (s *site) aged(t *testing.T, age time.Duration) {
	file := s.indexFile(t)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := time.Now().Add(-age).UnixNano()
	if _, err := db.ExecContext(t.Context(), "UPDATE setting SET value = ? WHERE name IN ('refreshed', 'listed', 'named')", at); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file + ".wrote"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
