package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func TestOpenURL(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct{ url, scheme, wantURL, wantKeyURL string }{
		{dir + "/a b", "file", "file://" + dir + "/a b", "file://" + dir + "/a b/k/o"},
		{"file://" + dir + "/x%20y", "file", "file://" + dir + "/x%20y", "file://" + dir + "/x%20y/k/o"},
		{"file:" + dir, "file", "file://" + dir, "file://" + dir + "/k/o"},
		{"file://localhost" + dir, "file", "file://" + dir, "file://" + dir + "/k/o"},
		{"rel/../a", "file", "file://" + dir + "/a", "file://" + dir + "/a/k/o"},
		{"mem://", "mem", "mem://", "mem://k/o"},
		{"mem://p/q", "mem", "mem://p/q", "mem://p/q/k/o"},
		{"s3://b", "s3", "s3://b", "s3://b/k/o"},
		{"S3://b/p/", "s3", "s3://b/p", "s3://b/p/k/o"},
		{"s3a://b/p", "s3", "s3://b/p", "s3://b/p/k/o"},
		{"s3n://b/p", "s3", "s3://b/p", "s3://b/p/k/o"},
		{
			"s3://b/p?use_path_style=true&region=r&endpoint=http://h:1", "s3",
			"s3://b/p?endpoint=http%3A%2F%2Fh%3A1&region=r&use_path_style=true", "s3://b/p/k/o",
		},
		{"gs://b/p?anonymous=true", "gs", "gs://b/p?anonymous=true", "gs://b/p/k/o"},
		{"gs://b/p?endpoint=http://h:1", "gs", "gs://b/p?endpoint=http%3A%2F%2Fh%3A1", "gs://b/p/k/o"},
	} {
		t.Run(c.url, func(t *testing.T) {
			s := openStore(t, c.url)
			if s.Scheme() != c.scheme || s.URL() != c.wantURL || s.KeyURL("k/o") != c.wantKeyURL {
				t.Errorf("opened as %s, %s, %s, want %s, %s, %s", s.Scheme(), s.URL(), s.KeyURL("k/o"), c.scheme, c.wantURL, c.wantKeyURL)
			}
			if again := openStore(t, s.URL()); again.URL() != s.URL() {
				t.Errorf("its own URL %s opens as %s", s.URL(), again.URL())
			}
		})
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("opening made %v, %v", left, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url  string
		kind error
		says string
	}{
		{"", store.ErrInvalid, "empty"},
		{"ftp://h/p", store.ErrInvalid, "known are dbfs, file, gs, hdfs, mem, s3, s3a, s3n"},
		{"s3:/b", store.ErrInvalid, "two slashes"},
		{"s3://", store.ErrInvalid, "s3://bucket/prefix"},
		{"s3:///p", store.ErrInvalid, "s3://bucket/prefix"},
		{"s3://user:secret@b/p", store.ErrInvalid, "no name of one"},
		{"s3://b/a/../b", store.ErrInvalid, `".."`},
		{"s3://b?enpoint=http://h", store.ErrInvalid, "known are anonymous, conditional_writes, endpoint, kmskeyid"},
		{"s3://b?endpoint=h:9000", store.ErrInvalid, "http://127.0.0.1:9000"},
		{"s3://b?endpoint=http://u:secret@h", store.ErrInvalid, "password"},
		{"s3://b?use_path_style=maybe", store.ErrInvalid, "use_path_style"},
		{"s3://b?request_checksum_calculation=never", store.ErrInvalid, "when_supported"},
		{"gs://b?region=r", store.ErrInvalid, "known are anonymous, endpoint"},
		{"gs://b?endpoint=h:4443", store.ErrInvalid, "http://127.0.0.1:9000"},
		{"file://host/p", store.ErrInvalid, "absolute path"},
		{"file:///p?x=1", store.ErrInvalid, "no parameters"},
		{"mem://a//b", store.ErrInvalid, "empty element"},
		{file, store.ErrInvalid, "not a directory"},
		{file + "/below", store.ErrInvalid, "not a directory"},
		{"hdfs:///p", store.ErrInvalid, "names no host"},
		{"viewfs://c/p", store.ErrUnsupported, "give the hdfs URL that it links to"},
		{"dbfs:/p", store.ErrInvalid, "no Databricks workspace is configured: set DATABRICKS_HOST"},
		{"dbfs:///p", store.ErrInvalid, "no mount of Databricks' file system at /dbfs"},
		{"dbfs:/Volumes/c/s/v", store.ErrInvalid, "no mount of Databricks' file system at /Volumes"},
		{"dbfs://p", store.ErrInvalid, "names no host"},
		{"dbfs://host/p", store.ErrInvalid, "names no host"},
		{"dbfs:p", store.ErrInvalid, "names no host"},
		{"dbfs:", store.ErrInvalid, "names no host"},
		{"dbfs:/p?profile=x", store.ErrInvalid, "'?'"},
		{"dbfs:/a\tb", store.ErrInvalid, "control character"},
	} {
		t.Run(c.url, func(t *testing.T) {
			_, err := store.Open(t.Context(), c.url, nil)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error is %v, want kind %q and %q", err, c.kind, c.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

func TestFsspecConfig(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		url     string
		environ []string
		want    string
	}{
		{dir, nil, "protocol=file root_path=" + dir},
		{"s3://b/p", nil, "protocol=s3 root_path=s3://b/p"},
		{
			"s3://b/p?endpoint=http://h:1&region=r", []string{"AWS_REGION=other", "AWS_SECRET_ACCESS_KEY=secret"},
			"protocol=s3 root_path=s3://b/p client_kwargs.endpoint_url=http://h:1 client_kwargs.region_name=r",
		},
		{
			"s3://b?anonymous=true", []string{"AWS_ENDPOINT_URL=http://h:2"},
			"protocol=s3 root_path=s3://b client_kwargs.endpoint_url=http://h:2 anon=true",
		},
		{
			"dbfs:/p", []string{"DATABRICKS_HOST=w.example", "DATABRICKS_TOKEN=secret"},
			"protocol=dbfs root_path=/p instance=w.example",
		},
		{
			"dbfs:/Volumes/c/s/v/p", []string{"DATABRICKS_HOST=w.example", "DATABRICKS_TOKEN=secret"},
			"protocol=dbfs root_path=/Volumes/c/s/v/p instance=w.example",
		},
		{"gs://b/p", []string{"STORAGE_EMULATOR_HOST=h:3"}, "protocol=gs root_path=gs://b/p endpoint_url=http://h:3"},
		{
			"gs://b/p?endpoint=http://h:4/&anonymous=true", []string{"STORAGE_EMULATOR_HOST=h:3"},
			"protocol=gs root_path=gs://b/p endpoint_url=http://h:4 token=anon",
		},
	} {
		s := openWith(t, c.url, &store.Options{Environ: c.environ})
		var got []string
		for _, setting := range s.FsspecConfig() {
			got = append(got, setting.Key+"="+setting.Value)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.url, text, c.want)
		}
	}
}
