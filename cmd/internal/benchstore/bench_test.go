package benchstore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What the bench is told, see "make bench-store".
const (
	onlyVariable  = "HEIRLOOM_BENCH_STORE" // a regular expression on the names of cells, as "minio.*down"; unset: nothing runs
	timesVariable = "HEIRLOOM_BENCH_N"     // tries of each, of which the best counts
	sizeVariable  = "HEIRLOOM_BENCH_MIB"   // of the large file
	allVariable   = "HEIRLOOM_BENCH_ALL"   // the defaults of tuned tools too
)

// The slow link: what it adds to a round trip, and what one connection may carry.
const (
	linkDelay = 20 * time.Millisecond
	linkRate  = 50_000_000 // bytes per second, each way
)

// TestTable runs the cells, one tool after the other, checks by hash what each has moved, and prints the table.
func TestTable(t *testing.T) {
	only := os.Getenv(onlyVariable)
	if only == "" {
		t.Skipf("measures for minutes; set %s=. or call make bench-store", onlyVariable)
	}
	b := &bench{t: t, only: regexp.MustCompile(only), times: usage.Number(t, timesVariable, 1), heirloom: usage.Build(t)}
	b.loads = []load{
		{name: fmt.Sprintf("%d MiB", usage.Number(t, sizeVariable, 1024)), files: 1, size: int64(usage.Number(t, sizeVariable, 1024)) << 20},
		{name: "5,000 x 4 KiB", files: 5000, size: 4096},
	}
	dir := t.TempDir()
	for i := range b.loads {
		if err := b.loads[i].make(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("minio", func(t *testing.T) { b.s3(t, "minio", servers.MinIO) })
	t.Run("versitygw", func(t *testing.T) { b.s3(t, "versitygw", servers.VersityGW) })
	t.Run("hdfs", b.hdfs)
	t.Run("local", b.local)
	t.Logf("data in %s; best of %d; the slow link adds %v and carries %d MB/s a connection\n%s", os.TempDir(), b.times, linkDelay, linkRate/1_000_000, b.results)
}

// bench is one run of the table.
type bench struct {
	t        *testing.T
	only     *regexp.Regexp
	times    int
	heirloom string // the binary
	loads    []load
	results  results
}

// wanted are the cells of a place that were asked for.
func (b *bench) wanted(place string) []cell {
	var cells []cell
	for _, l := range b.loads {
		for _, down := range []bool{false, true} {
			if c := (cell{place, l, down}); b.only.MatchString(c.String()) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

func (b *bench) s3(t *testing.T, name string, start func(testing.TB) servers.S3) {
	near, far := b.wanted(name), b.wanted(name+" +20ms")
	if len(near)+len(far) == 0 {
		t.Skip("not asked for")
	}
	server := start(t)
	base := job{bucket: server.Bucket, endpoint: server.Endpoint, environ: server.Environ}
	place := openStore(t, server.URL(""))
	b.cells(t, near, base, place, s3Tools(t, b.heirloom))
	if len(far) > 0 {
		base.endpoint = "http://" + servers.SlowLink(t, strings.TrimPrefix(server.Endpoint, "http://"), linkDelay, linkRate)
		b.cells(t, far, base, place, s3Tools(t, b.heirloom))
	}
}

func (b *bench) hdfs(t *testing.T) {
	cells := b.wanted("hdfs")
	if len(cells) == 0 {
		t.Skip("not asked for")
	}
	h := servers.Hadoop(t, nil)
	b.cells(t, cells, job{environ: h.Environ}, openStore(t, h.URL("")), hdfsTools(h, b.heirloom))
}

func (b *bench) local(t *testing.T) {
	dir := t.TempDir()
	b.cells(t, b.wanted("local"), job{bucket: dir}, openStore(t, dir), localTools(b.heirloom))
}

func openStore(t *testing.T, url string) *store.Store {
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// cells measures each tool on each cell, in turns. place is the far side, reached directly.
func (b *bench) cells(t *testing.T, cells []cell, base job, place *store.Store, tools []tool) {
	for _, c := range cells {
		rows := make([]measured, 0, len(tools))
		tries := map[string][]measured{}
		seed := store.Key("seed-" + strconv.Itoa(c.load.files))
		if c.down {
			b.seed(t, place, seed, c.load)
		}
		for n := range b.times {
			for _, one := range tools {
				if one.extra && os.Getenv(allVariable) == "" {
					continue
				}
				j := base
				j.load, j.down = c.load, c.down
				m := b.try(t, j, one, place, seed, n == 0)
				m.tool = one.name
				tries[one.name] = append(tries[one.name], m)
				t.Logf("%s: %-14s %s", c, one.name, m.text(c.load, m.wall))
			}
		}
		for _, one := range tools {
			if len(tries[one.name]) > 0 {
				rows = append(rows, best(tries[one.name]))
			}
		}
		b.results = append(b.results, struct {
			cell cell
			rows []measured
		}{c, rows})
	}
}

// try lets one tool do one job, and looks at what it did if check.
func (b *bench) try(t *testing.T, j job, one tool, place *store.Store, seed store.Key, check bool) measured {
	key := seed
	j.local = j.load.dir
	if j.down {
		j.local = filepath.Join(t.TempDir(), "down")
		defer os.RemoveAll(j.local)
	} else {
		key = store.Key(fmt.Sprintf("up-%d", time.Now().UnixNano()))
		defer b.clear(t, place, key, j.load)
	}
	j.prefix = string(key)
	if dir, ok := place.LocalPath(key); ok {
		j.prefix = dir
	}
	if err := exec.CommandContext(t.Context(), "sync").Run(); err != nil { // what others left to write is not this tool's
		t.Log(err)
	}
	m := one.make(j).measure(t)
	switch {
	case m.err != nil || !check:
	case j.down:
		m.err = j.load.check(j.local)
	default:
		m.err = arrived(t.Context(), place.Sub(key), j.load)
	}
	return m
}

func (b *bench) seed(t *testing.T, place *store.Store, key store.Key, l load) {
	for range place.List(t.Context(), string(key)+"/") {
		return // the other link has put it there
	}
	if _, err := place.UploadTree(t.Context(), l.dir, key, nil); err != nil {
		t.Fatal(err)
	}
}

// clear makes room. Small files stay, for removing them takes longer than moving them.
func (b *bench) clear(t *testing.T, place *store.Store, key store.Key, l load) {
	if l.files > 1 {
		return
	}
	for o, err := range place.List(t.Context(), string(key)+"/") {
		if err == nil {
			err = place.Delete(t.Context(), o.Key)
		}
		if err != nil {
			t.Log(err)
			return
		}
	}
}

// arrived compares what lies in a store with the load.
func arrived(ctx context.Context, s *store.Store, l load) error {
	found := 0
	for o, err := range s.List(ctx, "") {
		if err != nil {
			return err
		}
		found++
		r, err := s.Open(ctx, o.Key)
		if err != nil {
			return err
		}
		err = l.same(string(o.Key), r)
		r.Close()
		if err != nil {
			return err
		}
	}
	if found != l.files {
		return fmt.Errorf("%d of %d files arrived", found, l.files)
	}
	return nil
}
