package dataset_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// part is the bytes of a Parquet file of 100 rows.
func part(t *testing.T, s *store.Store) string {
	t.Helper()
	d := stage(t, s, spec())
	body, err := s.Get(t.Context(), d.Commit.Splits[dataset.Val].Dir.Join(manifest(t, s, d, dataset.Val).Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestPartitions infers types as Spark does.
func TestPartitions(t *testing.T) {
	tests := []struct {
		name string
		dirs []string
		want []string // columns after those of the files
		head string   // of them in the first row
	}{
		{"numbers", []string{"n=1", "n=-20"}, []string{"n int32"}, "-20"},
		{"long ones", []string{"n=1", "n=3000000000"}, []string{"n int64"}, "1"},
		{"fractions", []string{"n=1", "n=1.5"}, []string{"n float64"}, "1.5"},
		{"days", []string{"day=2026-11-20", "day=2026-11-21"}, []string{"day date32"}, `"2026-11-20"`},
		{"days and null", []string{"day=2026-11-20", "day=" + dataset.HivePartitionNull}, []string{"day date32"}, `"2026-11-20"`},
		{"times", []string{"at=2026-11-20 10%3A00%3A00"}, []string{"at timestamp[us]"}, `"2026-11-20 10:00:00Z"`},
		{"text", []string{"k=a%2Fb", "k=7"}, []string{"k utf8"}, `"7"`},
		{"only null", []string{"k=" + dataset.HivePartitionNull}, []string{"k utf8"}, "null"},
		{"what looks like a number to Go alone", []string{"k=1_000", "k=0x10", "k=inf"}, []string{"k utf8"}, `"0x10"`},
		{"two", []string{"y=2026/m=01", "y=2026/m=02"}, []string{"y int32", "m int32"}, "2026,1"},
		{"a name with an underscore", []string{"_k=1"}, []string{"_k int32"}, "1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			body := part(t, s)
			for _, dir := range test.dirs {
				put(t, s, store.Key("d/"+dir+"/part-0.parquet"), body)
			}
			r, err := dataset.Open(t.Context(), s, "d")
			if err != nil {
				t.Fatal(err)
			}
			var columns, names []string
			for _, field := range r.Fields()[3:] {
				columns = append(columns, field.Name+" "+field.Type)
				names = append(names, field.Name)
			}
			_, rows, err := r.Head(t.Context(), 1, &dataset.ReadOptions{Columns: names})
			if err != nil {
				t.Fatal(err)
			}
			var head []string
			for _, value := range rows[0] {
				head = append(head, string(value))
			}
			if !slices.Equal(columns, test.want) || strings.Join(head, ",") != test.head || r.Rows() != int64(100*len(test.dirs)) {
				t.Errorf("columns %v, first %v, %d rows; want %v, %s", columns, head, r.Rows(), test.want, test.head)
			}
		})
	}
}

func TestPartitionsThatDisagree(t *testing.T) {
	s := openStore(t, "mem://", nil)
	body := part(t, s)
	for i, dirs := range [][]string{{"a=1", "b=1"}, {"a=1", "a=1/b=2"}, {"a=1", "."}} {
		for _, dir := range dirs {
			key := store.Key(fmt.Sprintf("d%d/%s/part-0.parquet", i, dir))
			put(t, s, store.Key(strings.ReplaceAll(string(key), "/./", "/")), body)
		}
		if _, err := dataset.Open(t.Context(), s, store.Key(fmt.Sprintf("d%d", i))); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%v: %v", dirs, err)
		}
	}
}

// TestWhereOnPartitions reads only the directories that match.
func TestWhereOnPartitions(t *testing.T) {
	s := openStore(t, "mem://", nil)
	body := part(t, s)
	put(t, s, "d/day=2026-11-20/p.parquet", body)
	put(t, s, "d/day=2026-11-21/p.parquet", body)
	r, err := dataset.Open(t.Context(), s, "d")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "d/day=2026-11-20/p.parquet", "now it cannot be read")
	where, err := dataset.ParsePredicate("day > '2026-11-20'")
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for batch, err := range r.Batches(t.Context(), &dataset.ReadOptions{Where: where, Columns: []string{"a"}}) {
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.NumRows()
	}
	if rows != 100 {
		t.Errorf("%d rows", rows)
	}
}

func TestStatus(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		want dataset.State
		err  error
	}{
		{"nothing", nil, dataset.Absent, nil},
		{"only markers", []string{"d/_SUCCESS", "d/.x.crc"}, dataset.Absent, nil},
		{"pyarrow's", []string{"d/part-0.parquet"}, dataset.Present, nil},
		{"Spark's", []string{"d/_SUCCESS", "d/part-00000-1234-c000.snappy.parquet", "d/.part-00000-1234-c000.snappy.parquet.crc"}, dataset.Present, nil},
		{"Petastorm's", []string{"d/_SUCCESS", "d/_common_metadata", "d/part-00000.parquet"}, dataset.Present, nil},
		{"a file", []string{"d"}, dataset.Present, nil},
		{"a job that runs", []string{"d/_temporary/0/x", "d/part-00000.parquet"}, dataset.Incomplete, nil},
		{"a job that has begun", []string{"d/_temporary/0/x"}, dataset.Incomplete, nil},
		{"a job of Databricks", []string{"d/_started_7", "d/part-00000-tid-7-x.parquet"}, dataset.Incomplete, nil},
		{"one that ended", []string{"d/_started_7", "d/_committed_7", "d/part-00000-tid-7-x.parquet"}, dataset.Present, nil},
		{"Delta", []string{"d/_delta_log/0.json", "d/x.parquet"}, "", store.ErrUnsupported},
		{"Iceberg", []string{"d/metadata/v1.metadata.json", "d/data/x.parquet"}, "", store.ErrUnsupported},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			for _, key := range test.keys {
				put(t, s, store.Key(key), "x")
			}
			got, err := dataset.Status(t.Context(), s, "d")
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%q (%v), want %q (%v)", got, err, test.want, test.err)
			}
			is, _ := dataset.IsParquetDataset(t.Context(), s, "d")
			if is != (test.want == dataset.Present) {
				t.Errorf("IsParquetDataset = %v", is)
			}
		})
	}
}

// TestStatusUnreachable: a place that does not answer is not absent.
func TestStatusUnreachable(t *testing.T) {
	down := func(context.Context, store.Request, func() error) error { return syscall.ECONNREFUSED }
	s := openStore(t, t.TempDir(), &store.Options{Intercept: down, RetryDelay: time.Nanosecond})
	if got, err := dataset.Status(t.Context(), s, "d"); got != "" || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%q (%v)", got, err)
	}
}

// hadoopCRC is what Hadoop writes beside a file.
func hadoopCRC(body string) string {
	out := binary.BigEndian.AppendUint32([]byte("crc\x00"), 512)
	for piece := range slices.Chunk([]byte(body), 512) {
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(piece))
	}
	return string(out)
}

// TestCheckRules spoils a directory in each way and wants the rule for it.
func TestCheckRules(t *testing.T) {
	tests := []struct {
		name  string
		data  bool
		files func(body string) map[string]string
		want  []dataset.CheckRule
	}{
		{"sound", true, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, ".p.parquet.crc": hadoopCRC(b)}
		}, nil},
		{"absent", false, func(string) map[string]string { return nil }, []dataset.CheckRule{dataset.RuleAbsent}},
		{"cut short", false, func(b string) map[string]string { return map[string]string{"p.parquet": b[:len(b)/2]} }, []dataset.CheckRule{dataset.RuleFooter}},
		{"a job that died", false, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, "_temporary/0/x": ""}
		}, []dataset.CheckRule{dataset.RuleUncommitted}},
		{"left over", false, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, "_temporary/0/x": "", "_SUCCESS": ""}
		}, []dataset.CheckRule{dataset.RuleUncommitted}},
		{"a transaction", false, func(b string) map[string]string {
			return map[string]string{"p-tid-9-x.parquet": b, "_started_9": "", "_SUCCESS": ""}
		}, []dataset.CheckRule{dataset.RuleUncommitted}},
		{"Delta", false, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, "_delta_log/0.json": "{}"}
		}, []dataset.CheckRule{dataset.RuleForeign}},
		{"a directory that is no partition", false, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, "more/p.parquet": b}
		}, []dataset.CheckRule{dataset.RuleForeign}},
		{"other partitions", false, func(b string) map[string]string {
			return map[string]string{"a=1/p.parquet": b, "b=1/p.parquet": b}
		}, []dataset.CheckRule{dataset.RulePartition}},
		{"a stale checksum, by its length", false, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, ".p.parquet.crc": hadoopCRC(b + strings.Repeat("x", 600))}
		}, []dataset.CheckRule{dataset.RuleStaleCRC}},
		{"a stale checksum, by its bytes", true, func(b string) map[string]string {
			return map[string]string{"p.parquet": b, ".p.parquet.crc": hadoopCRC("x" + b[1:])}
		}, []dataset.CheckRule{dataset.RuleStaleCRC}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			for name, body := range test.files(part(t, s)) {
				put(t, s, store.Key("d/"+name), body)
			}
			report, err := dataset.Check(t.Context(), s, "d", &dataset.CheckOptions{ReadData: test.data})
			if err != nil {
				t.Fatal(err)
			}
			var rules []dataset.CheckRule
			for _, f := range report.Findings {
				rules = append(rules, f.Rule)
			}
			if !slices.Equal(rules, test.want) {
				t.Errorf("found %v, want %v", report.Findings, test.want)
			}
		})
	}
}
