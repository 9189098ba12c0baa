package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

func TestOpenHDFS(t *testing.T) {
	dir := t.TempDir()
	const site = `<configuration><property><name>fs.defaultFS</name><value>hdfs://default:9000</value></property></configuration>`
	if err := os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(site), 0o644); err != nil {
		t.Fatal(err)
	}
	configured := []string{"HADOOP_CONF_DIR=" + dir}
	for _, c := range []struct {
		url  string
		opts store.Options
		want string // URL of the key k, "" for ErrInvalid
	}{
		{"hdfs://nn:8020/u/h", store.Options{}, "hdfs://nn:8020/u/h/k"},
		{"hdfs://nn/u/h/", store.Options{}, "hdfs://nn/u/h/k"},
		{"HDFS://nn/u%20h", store.Options{}, "hdfs://nn/u%20h/k"},
		{"hdfs://nn", store.Options{}, "hdfs://nn/k"},
		{"hdfs:///u/h", store.Options{Environ: configured}, "hdfs://default:9000/u/h/k"},
		{"hdfs:/u/h", store.Options{Environ: configured}, "hdfs://default:9000/u/h/k"},
		{"hdfs:///u/h", store.Options{HDFS: store.HDFSOptions{Host: "other", Port: 1}}, "hdfs://other:1/u/h/k"},
		{"hdfs:///u/h", store.Options{HDFS: store.HDFSOptions{ExtraConf: map[string]string{"fs.defaultFS": "hdfs://extra"}}}, "hdfs://extra/u/h/k"},
		{"hdfs:///u/h", store.Options{}, ""},
		{"hdfs://user@nn/u", store.Options{}, ""},
		{"hdfs://nn:x/u", store.Options{}, ""},
		{"hdfs://nn/a/../b", store.Options{}, ""},
		{"hdfs://nn/a:b", store.Options{}, ""},
		{"hdfs://nn/a?replication=1", store.Options{}, ""},
	} {
		s, err := store.Open(t.Context(), c.url, &c.opts)
		if c.want == "" {
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: %v, want ErrInvalid", c.url, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if got := s.KeyURL("k"); got != c.want {
			t.Errorf("%s: the key is %s, want %s", c.url, got, c.want)
		}
		s.Close()
	}
}

// TestHDFSParameters sees the parameters of the URL kept in it, and in what fsspec is told.
func TestHDFSParameters(t *testing.T) {
	const url = "hdfs://nn/p?kerb_ticket=%2Ftmp%2Ft&user=ada"
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.URL() != url {
		t.Errorf("the URL is %s, want %s", s.URL(), url)
	}
	want := []store.Setting{{Key: "protocol", Value: "hdfs"}, {Key: "root_path", Value: "hdfs://nn/p"}, {Key: "host", Value: "nn"}, {Key: "user", Value: "ada"}, {Key: "kerb_ticket", Value: "/tmp/t"}}
	got := s.FsspecConfig()
	if len(got) != len(want) {
		t.Fatalf("fsspec is told %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("fsspec is told %v, want %v", got[i], want[i])
		}
	}
}

// TestHDFSUnreachable takes little time and says what does not answer.
func TestHDFSUnreachable(t *testing.T) {
	s, err := store.Open(t.Context(), "hdfs://127.0.0.1:1/p", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Now()
	_, err = s.Get(t.Context(), "k")
	want := "get k: 127.0.0.1:1 is unavailable: dial tcp 127.0.0.1:1: connect: connection refused"
	if !errors.Is(err, store.ErrUnavailable) || err.Error() != want {
		t.Errorf("get: %v, want %s", err, want)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}
