package storetest_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// gocloudOptOuts are the cases of gocloud's test that a server fails, not a driver.
func gocloudOptOuts() []string {
	return []string{
		"minio/TestList$/by_1",              // it ends with a page of nothing
		"minio/TestListWeirdKeys",           // has "//" in it
		"minio/TestKeys/repeatedfwdslashes", // "//" is no name for it
		"minio/TestKeys/dotdotbackslash",    // nor is `..\`
		"minio/TestKeys/(ascii-3|spaces)",   // it does not find the source of a copy
		"versitygw/TestListWeirdKeys",
		"versitygw/TestKeys/ascii-3",                 // "./" at the end of a key
		"fakegcs/TestWrite/write_to_empty_key_fails", // it stores what has no name
	}
}

// TestMain leaves the opt-outs aside: gocloud's test makes its cases itself, and
// only the flag reaches them.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.skip").Value.String() == "" {
		var skip []string
		for _, name := range gocloudOptOuts() {
			skip = append(skip, "^TestGocloudDrivers$/"+name+"$")
		}
		if err := flag.Set("test.skip", strings.Join(skip, "|")); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestGocloudDrivers runs gocloud's own conformance test of its drivers for S3
// and GCS on the servers that the contract is tested with: these are what comes
// to store.FromBucket, and a server that fails here is not fit to judge ours.
func TestGocloudDrivers(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T) (bucket, none string)
	}{
		{"minio", func(t *testing.T) (string, string) { return s3Pair(servers.MinIO(t)) }},
		{"versitygw", func(t *testing.T) (string, string) { return s3Pair(servers.VersityGW(t)) }},
		{"fakegcs", func(t *testing.T) (string, string) {
			server := servers.FakeGCS(t)
			return server.URL(""), "gs://there-is-none"
		}},
	} {
		bucket, none := c.start(t)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it waits for its server
			drivertest.RunConformanceTests(t, func(context.Context, *testing.T) (drivertest.Harness, error) {
				return harness{bucket, none}, nil
			}, nil)
		})
	}
}

func s3Pair(server servers.S3) (bucket, none string) {
	bucket = gocloudURL(server)
	server.Bucket = "there-is-none"
	return bucket, gocloudURL(server)
}

func gocloudURL(s servers.S3) string {
	return "s3://" + s.Bucket + "?endpoint=" + url.QueryEscape(s.Endpoint) + "&region=us-east-1&use_path_style=true&awssdk=v2"
}

// harness holds the URLs of a bucket and of one that does not exist.
type harness struct{ bucket, none string }

func (h harness) MakeDriver(ctx context.Context) (driver.Bucket, error) {
	return driverOf(ctx, h.bucket)
}

func (h harness) MakeDriverForNonexistentBucket(ctx context.Context) (driver.Bucket, error) {
	return driverOf(ctx, h.none)
}

func (harness) HTTPClient() *http.Client { return http.DefaultClient }
func (harness) SupportsCopy() bool       { return true }

// SupportsNonSlashDelimiters: MinIO's listing by another delimiter has no end.
func (harness) SupportsNonSlashDelimiters() bool { return false }
func (harness) Close()                           {}

// driverOf takes the driver out of a bucket: gocloud exports none of those of the
// clouds, and its test wants them bare.
func driverOf(ctx context.Context, url string) (driver.Bucket, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, err
	}
	field := reflect.ValueOf(bucket).Elem().FieldByName("b")
	return *(*driver.Bucket)(unsafe.Pointer(field.UnsafeAddr())), nil
}
