package store

import (
	"errors"
	"runtime"
	"testing"
)

func TestCanonicalURI(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the table are those of Unix")
	}
	tests := []struct{ uri, want string }{ // "" is ErrInvalid
		{"/tmp/x", "file:///tmp/x"},
		{"/tmp/x/", "file:///tmp/x"},
		{"/tmp//y/../x/.", "file:///tmp/x"},
		{"/", "file:///"},
		{"data/a.csv", "file:///work/data/a.csv"},
		{"./a b#c?d", "file:///work/a b#c?d"},
		{"../x", "file:///x"},
		{"/tmp/a%20b", "file:///tmp/a%20b"},
		{"file:/tmp/x", "file:///tmp/x"},
		{"file:///tmp/x/", "file:///tmp/x"},
		{"FILE://localhost/tmp/x", "file:///tmp/x"},
		{"file://host/tmp/x", ""},
		{"file://tmp/x", ""},
		{"file:tmp/x", ""},
		{"file:///tmp/x?a#b", "file:///tmp/x?a#b"},

		{"s3://b/k/", "s3://b/k"},
		{"S3A://b/k", "s3://b/k"},
		{"s3n://b/k", "s3://b/k"},
		{"s3://b", "s3://b"},
		{"s3://b/a b%20c//d", "s3://b/a b%20c//d"},
		{"s3://b/k?endpoint=http://127.0.0.1:9000&region=r", "s3://b/k"},
		{"s3://id:secret@b/k", "s3://b/k"},
		{"s3://id:se/cret@b/k", ""},
		{"s3://b/k?versionId=1", ""},
		{"s3://b/k#f", ""},
		{"s3://b/a/../k", ""},
		{"s3:///k", ""},
		{"s3:b/k", ""},
		{"gcs://b/k", "gs://b/k"},

		{"hdfs://NN:8020/u/h/", "hdfs://nn/u/h"},
		{"hdfs://nn:9000/u", "hdfs://nn:9000/u"},
		{"hdfs://ann@nn:8020/u//h", "hdfs://nn/u/h"},
		{"hdfs:///u/h", "hdfs:///u/h"},
		{"hdfs:/u/h", "hdfs:///u/h"},
		{"hdfs:u", ""},
		{"dbfs:/a", "dbfs:/a"},
		{"dbfs:///a/b/", "dbfs:/a/b"},
		{"/dbfs/a", "dbfs:/a"},
		{"file:///dbfs/a", "dbfs:/a"},
		{"file:/dbfs/a", "dbfs:/a"},
		{"/dbfs", "dbfs:/"},
		{"/dbfs/", "dbfs:/"},
		{"dbfs:/", "dbfs:/"},
		{"/dbfsx/a", "file:///dbfsx/a"},
		{"/dbfs/Volumes/c/s/v", "dbfs:/Volumes/c/s/v"},
		{"/Volumes/Disk/a", "file:///Volumes/Disk/a"},
		{"dbfs:/Volumes/c/s/v", "dbfs:/Volumes/c/s/v"},
		{"dbfs://a", ""},
		{"dbfs:a", ""},

		{"HTTPS://User:pw@Example.org:443/a%2fb%7Ec/?q=1&sig=x#frag", "https://example.org/a%2Fb~c?q=1"},
		{"http://h:8080/a b", "http://h:8080/a%20b"},
		{"https://h/k?X-Amz-Signature=a&X-Amz-Date=b", "https://h/k"},
		{"https://h", "https://h"},
		{"https://[redacted]@h/k", "https://h/k"},
		{"postgres://u:p@DB:5432/x", "postgres://db/x"},
		{"sha256:00ff", "sha256:00ff"},
		{"Spark:table", "spark:table"},
		{"http://h/%zz", ""},

		{"", ""},
		{"a\nb", ""},
		{"a\xffb", ""},
	}
	for _, tt := range tests {
		got, err := CanonicalURI(tt.uri, "/work")
		if got != tt.want || (err == nil) != (tt.want != "") || (err != nil && !errors.Is(err, ErrInvalid)) {
			t.Errorf("CanonicalURI(%q) = %q, %v, want %q", tt.uri, got, err, tt.want)
		}
		if err == nil {
			if again, err := CanonicalURI(got, ""); again != got || err != nil {
				t.Errorf("CanonicalURI(%q) = %q, %v: not its own canonical form", got, again, err)
			}
		}
	}
	if got, err := CanonicalURI("a", ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("relative without a working directory: %q, %v", got, err)
	}
}

func FuzzCanonicalURI(f *testing.F) {
	for _, s := range []string{"/a/../b", "s3a://b/k?region=x", "https://u:p@h:443/%7e?a=b#c", "hdfs://h:8020//x", "dbfs:/a", "x:y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		once, err := CanonicalURI(uri, "/work")
		if err != nil {
			return
		}
		if twice, err := CanonicalURI(once, "/work"); twice != once || err != nil {
			t.Errorf("%q: %q becomes %q, %v", uri, once, twice, err)
		}
	})
}
