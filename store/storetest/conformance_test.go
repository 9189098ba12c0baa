package storetest_test

import (
	"fmt"
	"strings"
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
}

func backends() []backend {
	return []backend{
		{"mem", func(*testing.T) func(*testing.T) string {
			return func(*testing.T) string { return "mem://" }
		}},
		{"file", func(*testing.T) func(*testing.T) string {
			return func(t *testing.T) string { return t.TempDir() + "/not there yet" }
		}},
		{"minio", func(t *testing.T) func(*testing.T) string { return s3Buckets(servers.MinIO(t)) }},
		{"versitygw", func(t *testing.T) func(*testing.T) string { return s3Buckets(servers.VersityGW(t)) }},
		{"fakegcs", func(t *testing.T) func(*testing.T) string {
			server, n := servers.FakeGCS(t), 0
			return func(t *testing.T) string {
				n++
				return server.WithBucket(t, fmt.Sprintf("case-%d", n)).URL("")
			}
		}},
		{"hdfs", func(t *testing.T) func(*testing.T) string {
			server, n := servers.Hadoop(t, nil), 0
			return func(*testing.T) string {
				n++
				return server.URL(fmt.Sprintf("case-%d", n))
			}
		}},
	}
}

func s3Buckets(server servers.S3) func(*testing.T) string {
	n := 0
	return func(t *testing.T) string {
		n++
		return server.WithBucket(t, fmt.Sprintf("case-%d", n)).URL("")
	}
}

// TestConformance runs the contract on every backend, at its root and under a
// prefix, and logs the table of cases and backends.
func TestConformance(t *testing.T) {
	results := map[string]string{} // by column and case
	var columns []string
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			next := b.start(t)
			for _, prefix := range []store.Key{"", "some/pre-fix é"} {
				column := strings.TrimSuffix(b.name+"/"+strings.Repeat("p", min(len(prefix), 1)), "/")
				columns = append(columns, column)
				for _, c := range storetest.Cases() {
					name := c.Name + strings.Repeat(", under a prefix", min(len(prefix), 1))
					result := "-" // t.Run is content with what is not run at all
					ok := t.Run(name, func(t *testing.T) {
						result = "skipped"
						c.Run(t, open(t, next(t), prefix))
						result = "ok"
					})
					if !ok {
						result = "FAIL"
					}
					results[column+" "+c.Name] = result
				}
			}
		})
	}
	t.Log(table(columns, results))
}

func open(t *testing.T, url string, prefix store.Key) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
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
