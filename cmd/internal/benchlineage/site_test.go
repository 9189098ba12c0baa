package benchlineage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// site is a root of some size, where it lies, and who asks.
type site struct {
	*bench
	runs         int
	root         *lineagetest.Root // with 1,001 more runs, which come later
	place, cache string            // the store's directory, the user's cache
	last, parent string            // ids: the newest run of the first project, and one with a thousand descendants
	at           int               // which run parent is
	below        int               // descendants of parent
	lastRow      time.Time         // when the last one was done
}

func newSite(t *testing.T, b *bench, runs int) *site {
	s := &site{bench: b, runs: runs, root: rootOf(runs), cache: t.TempDir(), place: t.TempDir(), lastRow: time.Now()}
	if b.keep != "" {
		s.place = filepath.Join(b.keep, strconv.Itoa(runs))
		s.cache = filepath.Join(s.place, "cache")
	}
	s.at, s.below = s.root.With(1000)
	s.parent = string(s.root.ID(s.at))
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

// add notes what a row took.
func (s *site) add(t *testing.T, row string, one result) {
	one.row = row
	s.results.list = append(s.results.list, one)
	t.Logf("%d runs: %s by %s: %s; since the last row %v", s.runs, row, one.tool, s.results.cell(row, one.tool, s.runs), time.Since(s.lastRow).Round(100*time.Millisecond))
	s.lastRow = time.Now()
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
	if s.runs > s.onDisk {
		s.virtual(t)
		return
	}
	s.write(t)
	if err := os.RemoveAll(s.cache); err != nil {
		t.Fatal(err)
	}
	s.add(t, "build index, local", s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	if s.wants("refresh, nothing new", "heirloom") {
		s.add(t, "refresh, nothing new", s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	}
	if s.wants("refresh, everyday", "heirloom") {
		s.add(t, "refresh, everyday", s.best(func() result {
			s.aged(t, time.Minute)
			return s.measured(t, s.cache, s.place, "runs", "--limit", "1")
		}))
	}
}

// write writes the root, or makes one that was kept what it was.
func (s *site) write(t *testing.T) {
	begun := time.Now()
	dir, whole := filepath.Join(s.place, "tracker"), filepath.Join(s.place, "whole")
	if _, err := os.Stat(whole); err != nil {
		if err := errors.Join(os.RemoveAll(dir), s.root.Write(t.Context(), dir, 0, s.runs), os.WriteFile(whole, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.place, "heirloom")); err != nil {
		t.Fatal(err)
	}
	for i := s.runs; i < s.root.Len(); i++ {
		if err := os.RemoveAll(filepath.Join(dir, s.root.ID(i).Encode())); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs written in %v; %d with those to come have %d links", s.runs, time.Since(begun).Round(time.Second), s.root.Len(), s.root.Links())
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
		if !s.wants(q.row, "heirloom") {
			continue
		}
		s.aged(t, 0)
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
	if s.runs > s.onDisk {
		return
	}
	from := s.runs
	for _, more := range []int{1, 1000} {
		row := fmt.Sprintf("refresh, %d new", more)
		if !s.wants(row, "heirloom") {
			continue
		}
		if err := s.root.Write(t.Context(), filepath.Join(s.place, "tracker"), from, from+more); err != nil {
			t.Fatal(err)
		}
		from += more
		s.add(t, row, s.measured(t, s.cache, s.place, "runs", "--limit", "1", "--fresh"))
	}
	if s.wants("publish", "heirloom") || s.wants("start from catalog", "heirloom") {
		s.add(t, "catalog publish", s.measured(t, s.cache, s.place, "catalog", "publish"))
		s.add(t, "start from catalog", s.measured(t, t.TempDir(), s.place, "runs", "--limit", "1"))
	}
}

// gateway measures what the root costs if it is reached through S3: versitygw serves it as long as this takes.
func (s *site) gateway(t *testing.T) {
	if s.runs > s.onDisk || !s.wants("versitygw", "heirloom") {
		return
	}
	server := servers.VersityGW(t)
	from, to := filepath.Join(s.place, "tracker"), filepath.Join(server.Dir, server.Bucket, "tracker")
	if err := os.Rename(from, to); err != nil {
		t.Logf("versitygw does not serve %s: %v", from, err)
		return
	}
	defer func() {
		if err := os.Rename(to, from); err != nil {
			t.Error(err)
		}
	}()
	cache, url := t.TempDir(), server.URL("")
	s.add(t, "build index, versitygw", s.measured(t, cache, url, "runs", "--limit", "1", "--fresh"))
	s.add(t, "refresh, nothing new, versitygw", s.measured(t, cache, url, "runs", "--limit", "1", "--fresh"))
	s.add(t, "catalog publish, versitygw", s.measured(t, cache, url, "catalog", "publish", "--no-refresh"))
	s.add(t, "start from catalog, versitygw", s.measured(t, t.TempDir(), url, "runs", "--limit", "1"))
}
