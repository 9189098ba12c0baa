package storetest_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// backend is one column of the table of results.
type backend struct {
	name string
	// start prepares it and gives the URL of an empty store at each call.
	start func(t *testing.T) func(t *testing.T) string
	// options gives those the stores are opened with, after start; nil is the
	// environment alone.
	options func(t *testing.T) *store.Options
}

func backends() []backend {
	return []backend{
		{name: "mem", start: func(*testing.T) func(*testing.T) string {
			return func(*testing.T) string { return "mem://" }
		}},
		{name: "file", start: func(*testing.T) func(*testing.T) string {
			return func(t *testing.T) string { return t.TempDir() + "/not there yet" }
		}},
		{name: "minio", start: func(t *testing.T) func(*testing.T) string { return s3Buckets(servers.MinIO(t)) }},
		{name: "versitygw", start: func(t *testing.T) func(*testing.T) string { return s3Buckets(servers.VersityGW(t)) }},
		{name: "fakegcs", start: func(t *testing.T) func(*testing.T) string {
			server, n := servers.FakeGCS(t), 0
			return func(t *testing.T) string {
				n++
				return server.WithBucket(t, fmt.Sprintf("case-%d", n)).URL("")
			}
		}},
		{name: "hdfs", start: func(t *testing.T) func(*testing.T) string {
			server, n := servers.Hadoop(t, nil), 0
			return func(*testing.T) string {
				n++
				return server.URL(fmt.Sprintf("case-%d", n))
			}
		}},
		{name: "dbfs", start: func(t *testing.T) func(*testing.T) string { return directories(servers.DBFS(t).URL) }},
		{name: "volume", start: func(t *testing.T) func(*testing.T) string { return directories(servers.DBFS(t).VolumeURL) }},
		{
			name: "dbfs mount",
			start: func(*testing.T) func(*testing.T) string {
				return directories(func(p string) string { return "dbfs:/" + p })
			},
			options: func(t *testing.T) *store.Options {
				return &store.Options{DBFS: store.DBFSOptions{Mount: servers.SequentialFUSE(t)}}
			},
		},
	}
}

// prefixes are those under which the cases are run: the root, and another. What a
// prefix changes is above the backends, so that in a usual run the second is left
// to three of them.
func (b backend) prefixes() []store.Key {
	all := []store.Key{"", "some/pre-fix é"}
	whole := storetest.Rounds(2) == 2 || os.Getenv("HEIRLOOM_CONTRACT") != ""
	if whole || slices.Contains([]string{"mem", "file", "minio"}, b.name) {
		return all
	}
	return all[:1]
}

// column is the heading of a backend under a prefix.
func (b backend) column(prefix store.Key) string {
	return strings.TrimSuffix(b.name+"/"+strings.Repeat("p", min(len(prefix), 1)), "/")
}

// directories gives a new one of a server at each call.
func directories(url func(prefix string) string) func(*testing.T) string {
	n := 0
	return func(*testing.T) string {
		n++
		return url(fmt.Sprintf("case-%d", n))
	}
}

func s3Buckets(server servers.S3) func(*testing.T) string {
	n := 0
	return func(t *testing.T) string {
		n++
		return server.WithBucket(t, fmt.Sprintf("case-%d", n)).URL("")
	}
}

// TestConformance runs the contract on every backend, and logs the table of cases and backends.
func TestConformance(t *testing.T) {
	var mu sync.Mutex              // guards results
	results := map[string]string{} // by column and case
	var columns []string
	t.Cleanup(func() { t.Log(table(columns, results)) })
	for _, b := range backends() {
		next, opts := b.start(t), &store.Options{Environ: os.Environ()}
		if b.options != nil {
			opts = b.options(t)
		}
		for _, prefix := range b.prefixes() {
			columns = append(columns, b.column(prefix))
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel() // it waits for its server
			for _, prefix := range b.prefixes() {
				for _, c := range storetest.Cases() {
					name := c.Name + strings.Repeat(", under a prefix", min(len(prefix), 1))
					result := "-" // t.Run is content with what is not run at all
					ok := t.Run(name, func(t *testing.T) {
						result = "skipped"
						c.Run(t, open(t, next(t), prefix, opts))
						result = "ok"
					})
					if !ok {
						result = "FAIL"
					}
					mu.Lock()
					results[b.column(prefix)+" "+c.Name] = result
					mu.Unlock()
				}
			}
		})
	}
}

func open(t *testing.T, url string, prefix store.Key, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if prefix == "" {
		return s
	}
	return s.Sub(prefix)
}

func table(columns []string, results map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cases and backends (/p: under a prefix, -: not run)\n%-62s", "")
	for _, c := range columns {
		fmt.Fprintf(&b, " %-11s", c)
	}
	for _, c := range storetest.Cases() {
		fmt.Fprintf(&b, "\n%-62s", c.Name)
		for _, column := range columns {
			fmt.Fprintf(&b, " %-11s", results[column+" "+c.Name])
		}
	}
	return b.String()
}
