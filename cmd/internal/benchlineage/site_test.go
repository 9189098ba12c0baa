package benchlineage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// site is a root of some size, where it lies, and who asks.
type site struct {
	*bench
	runs         int
	root         *lineagetest.Root // with 1,001 more runs, which come later
	place, cache string            // the store's directory, the user's cache
	server       *servers.S3       // which also serves place; nil = none
	last, parent string            // ids: the newest run of the first project, and one with a thousand descendants
	below        int               // descendants of parent
}

func newSite(t *testing.T, b *bench, runs int) *site {
	s := &site{bench: b, runs: runs, root: lineagetest.New(lineagetest.Options{Runs: runs + 1001, Seed: 1}), cache: t.TempDir(), place: t.TempDir()}
	if runs <= onDisk && b.wants("build index, versitygw") {
		t.Run("versitygw", func(t *testing.T) {}) // a skip of its own
		server := servers.VersityGW(t)
		s.server, s.place = &server, filepath.Join(server.Dir, server.Bucket)
	}
	at, below := s.root.With(1000)
	s.parent, s.below = string(s.root.ID(at)), below
	s.last = string(s.root.ID(runs/100*100 - 1 - 27)) // the end of a chain of fine-tunes
	return s
}

// measured runs heirloom with the cache of this site.
func (s *site) measured(t *testing.T, cache, url string, args ...string) result {
	t.Helper()
	environ := append(os.Environ(), "XDG_CACHE_HOME="+cache, "HEIRLOOM_STORE="+url)
	u, err := usage.Measure(t.Context(), append([]string{s.heirloom, "--stats"}, args...), environ)
	if err != nil {
		t.Errorf("%v: %v", args, err)
	}
	one := result{tool: "heirloom", runs: s.runs, took: u}
	if m := regexp.MustCompile(`requests: (\d+)`).FindStringSubmatch(u.Said); m != nil {
		one.requests = m[1]
	}
	return one
}

func (s *site) add(t *testing.T, row string, one result) {
	one.row = row
	s.results.list = append(s.results.list, one)
	t.Logf("%d runs: %s by %s: %s", s.runs, row, one.tool, s.results.cell(row, one.tool, s.runs))
}

// best is the fastest of several tries.
func (s *site) best(try func() result) result {
	var best result
	for n := range s.times {
		if one := try(); n == 0 || one.took.Wall < best.took.Wall {
			best = one
		}
	}
	return best
}

// fill makes the root, and the index of it.
func (s *site) fill(t *testing.T) {
	if s.runs > onDisk {
		s.fillVirtual(t)
		return
	}
	begun := time.Now()
	if err := s.root.Write(t.Context(), filepath.Join(s.place, "tracker"), 0, s.runs); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs written in %v; %d with those to come have %d links", s.runs, time.Since(begun).Round(time.Second), s.root.Len(), s.root.Links())
	s.add(t, "build index, local", s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	if s.wants("refresh, nothing new") {
		s.add(t, "refresh, nothing new", s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	}
}

// fillVirtual fills the index that the command will open with the runs of a root that is not written.
func (s *site) fillVirtual(t *testing.T) {
	open := func(from *store.Store) *index.Index {
		x, err := index.Open(t.Context(), tracker.NewFileTracker(from, nil), index.Options{Dir: filepath.Join(s.cache, "heirloom", "index")})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if err := os.WriteFile(filepath.Join(s.place, "tracker.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	real, err := store.Open(t.Context(), filepath.Join(s.place, "tracker"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	empty := open(real)
	virtual := store.FromBucket(newBucket(s.root, s.runs), "virtual://"+strconv.Itoa(s.runs), nil)
	defer virtual.Close()
	x := open(virtual)
	begun := time.Now()
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := result{tool: "heirloom", runs: s.runs, requests: strconv.Itoa(int(virtual.Stats().Total()))}
	one.took.Wall = time.Since(begun)
	s.add(t, "build index, memory", one)
	from, to := x.File(), empty.File()
	x.Close()
	empty.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(to + suffix)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// question is a row, with the command that answers it from an index that is young enough.
type question struct {
	row   string
	args  []string
	lines int // that the answer must have at least, as JSON lines
}

func (s *site) questions() []question {
	where := "params.optimizer = 'adam' and metrics.val_accuracy > 0.9 and tags.stage = 'train'"
	rare := "params.seed = 7 and metrics.val_accuracy > 0.98 and tags.stage = 'finetune'"
	return []question{
		{"version", []string{"version"}, 0},
		{"runs --limit 20", []string{"runs", "--limit", "20", "--no-refresh"}, 20},
		{"runs --where, 3 keys", []string{"runs", "--limit", "20", "--no-refresh", "--where", where}, 20},
		{"runs --where, 3 rare keys", []string{"runs", "--limit", "20", "--no-refresh", "--where", rare}, 0},
		{"show", []string{"show", s.parent}, 0},
		{"lineage --up, all", []string{"lineage", s.last, "--up", "--no-refresh"}, 0},
		{fmt.Sprintf("lineage --down, %d", s.below), []string{"lineage", s.parent, "--down", "--no-refresh"}, 0},
		{"lineage --down -o svg", []string{"lineage", s.parent, "--down", "-o", "svg", "--no-refresh"}, 0},
		{"sql, count by state", []string{"sql", "SELECT state, count(*) FROM runs GROUP BY state", "--no-refresh"}, 0},
	}
}

func (s *site) ask(t *testing.T) {
	for _, q := range s.questions() {
		if !s.wants(q.row) {
			continue
		}
		if q.lines > 0 {
			one := s.measured(t, s.cache, s.place, append(q.args, "-o", "jsonl")...)
			if n := strings.Count(one.took.Said, "\n"); n == 0 {
				t.Errorf("%s answers %q", q.row, one.took.Said)
			}
		}
		s.add(t, q.row, s.best(func() result { return s.measured(t, s.cache, s.place, q.args...) }))
	}
}

// young measures refreshes after new runs came.
func (s *site) young(t *testing.T) {
	if s.runs > onDisk {
		return
	}
	from := s.runs
	for _, more := range []int{1, 1000} {
		row := fmt.Sprintf("refresh, %d new", more)
		if !s.wants(row) {
			continue
		}
		if err := s.root.Write(t.Context(), filepath.Join(s.place, "tracker"), from, from+more); err != nil {
			t.Fatal(err)
		}
		from += more
		s.add(t, row, s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	}
	if s.wants("publish") {
		s.add(t, "catalog publish", s.measured(t, s.cache, s.place, "catalog", "publish"))
		s.add(t, "start from catalog", s.measured(t, t.TempDir(), s.place, "runs", "--limit", "1"))
	}
}

// gateway measures what a root costs that is reached through S3.
func (s *site) gateway(t *testing.T) {
	if s.server == nil {
		return
	}
	cache := t.TempDir()
	s.add(t, "build index, versitygw", s.measured(t, cache, s.server.URL(""), "runs", "--limit", "1", "--fresh"))
	s.add(t, "refresh, nothing new, versitygw", s.measured(t, cache, s.server.URL(""), "runs", "--limit", "1", "--fresh"))
}
