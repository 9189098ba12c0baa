package openlineage

import (
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// The names that the standard's documents and the tests of its Java client give to places.
func TestPlacesAreNamedAsTheStandardDoes(t *testing.T) {
	tests := []struct{ uri, workspace, namespace, name string }{
		{"s3://bucket/a/b/", "", "s3://bucket", "a/b"},
		{"s3a://bucket/a/b", "", "s3://bucket", "a/b"},
		{"s3n://bucket/", "", "s3://bucket", "/"},
		{"s3://bucket", "", "s3://bucket", "/"},
		{"gs://bucket/a", "", "gs://bucket", "a"},
		{"hdfs://nn:8020/a/b/", "", "hdfs://nn:8020", "/a/b"},
		{"dbfs:/a/b", "", "dbfs", "/a/b"},
		{"dbfs:///a/b", "", "dbfs", "/a/b"},
		{"dbfs:/a/b", "adb-1.azuredatabricks.net", "dbfs://adb-1.azuredatabricks.net", "/a/b"},
		{"/a/b", "", "file", "/a/b"},
		{"file:/a/b/", "", "file", "/a/b"},
		{"file:///a/b", "", "file", "/a/b"},
		{"file://host/a", "", "file://host", "/a"},
		{"warehouse/location", "", "file", "warehouse/location"},
		{`C:\home\test`, "", "file", "C:/home/test"},
		{"file:///C:/home/test", "", "file", "C:/home/test"},
		{"abfs://c@acct.dfs.core.windows.net/p", "", "abfss://c@acct.dfs.core.windows.net", "p"},
		{"https://host/a/b", "", "https://host", "a/b"},
		{"inmemory:x", "", "inmemory", "x"},
	}
	for _, tt := range tests {
		if namespace, name := nameOf(tt.uri, tt.workspace); namespace != tt.namespace || name != tt.name {
			t.Errorf("%s: %q %q, want %q %q", tt.uri, namespace, name, tt.namespace, tt.name)
		}
	}
}

// A place that is named and read back is the same input.
func TestNamesAreReadBack(t *testing.T) {
	for _, uri := range []string{
		"s3://bucket/a/b", "s3a://bucket/a/b/", "s3://bucket", "gs://bucket/a b", "hdfs://nn:8020/a", "hdfs://ns/a/b", "dbfs:/a/b", "file:///a/b", "/a/b c",
		"https://host/a/b",
	} {
		want, err := store.CanonicalURI(uri, "/")
		if err != nil {
			t.Fatal(err)
		}
		for _, workspace := range []string{"", "adb.example"} {
			namespace, name := nameOf(uri, workspace)
			if s, err := (Dataset{Namespace: namespace, Name: name}).source(); err != nil || string(s.ID) != want || s.URI != want {
				t.Errorf("%s is %q %q, and read back %+v, %v; want %s", uri, namespace, name, s, err, want)
			}
		}
	}
}

func TestDatasetsThatAreNoPlaces(t *testing.T) {
	tests := []struct {
		d    Dataset
		want string
	}{
		{Dataset{Namespace: "postgres://db:5432", Name: "shop.public.orders"}, "postgres://db:5432/shop.public.orders"},
		{Dataset{Namespace: "bigquery", Name: "p.d.t"}, "bigquery/p.d.t"},
		{Dataset{Namespace: "my team", Name: "a/b c"}, "my team/a/b c"},
		{Dataset{Namespace: "file", Name: "warehouse/location"}, "file/warehouse/location"},
		{Dataset{Namespace: "s3://bucket", Name: "a/../b"}, "s3://bucket/a/../b"},
		{Dataset{Namespace: ownNamespace, Name: "clicks"}, "clicks"},
	}
	for _, tt := range tests {
		s, err := tt.d.source()
		if err != nil || string(s.ID) != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.d, s.ID, err, tt.want)
			continue
		}
		if tt.d.Namespace == ownNamespace || s.Name == "" {
			continue
		}
		if namespace, name := cutName(s.Name); namespace != tt.d.Namespace || name != tt.d.Name {
			t.Errorf("%q is cut into %q and %q, want %+v", s.Name, namespace, name, tt.d)
		}
	}
	if _, err := (Dataset{Namespace: "a", Name: "b\x00"}).source(); err == nil {
		t.Error("a control character passes")
	}
}

func TestUUIDs(t *testing.T) {
	id := UUID("local://torchx/train-x")
	if id != UUID("local://torchx/train-x") || id == UUID("local://torchx/train-y") || id[14] != '5' {
		t.Errorf("%s is no UUID of version 5 of the run alone", id)
	}
	if _, err := parseUUID(id); err != nil {
		t.Error(err)
	}
	for _, namespace := range []string{"default", "my ns/with:all%things", "ü", string(make([]byte, 300))} {
		run := RunID(namespace, id)
		if len(run) > maxIDBytes {
			t.Errorf("%s has %d bytes", run, len(run))
		}
		if UUID(run) != id {
			t.Errorf("%s: UUID %s, want its own", run, UUID(run))
		}
		if got, _, ok := foreign(run); !ok || len(namespace) < 100 && got != namespace {
			t.Errorf("%s: namespace %q, want %q", run, got, namespace)
		}
	}
	for _, bad := range []string{"", "x", id + "0", id[:35] + "g", "{" + id[:34] + "}"} {
		if got, err := parseUUID(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
}
