package servers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// GCS is an emulator of Google Cloud Storage, with one empty bucket.
type GCS struct {
	Endpoint, Bucket string
	Environ          []string // what a child process needs, as "NAME=value"
}

// URL is the address of a store below prefix, which may be empty.
func (g GCS) URL(prefix string) string {
	return "gs://" + strings.TrimSuffix(g.Bucket+"/"+prefix, "/")
}

// FakeGCS starts fake-gcs-server and sets STORAGE_EMULATOR_HOST of this process
// for the time of the test. It is an emulator: it knows no permissions and does
// not throttle. What it lacks of compose is added in front of it.
func FakeGCS(t testing.TB) GCS {
	t.Helper()
	return startGCS(t, fakeGCS())
}

func fakeGCS() program {
	return program{name: "fake-gcs-server", pkg: "github.com/fsouza/fake-gcs-server", version: "v1.56.1"}
}

// FakeGCSForMany is FakeGCS for tens of thousands of objects. The emulator looks for
// an object among all of a bucket, thrice for each write and under one lock, and formats
// two texts for each that it passes: 64,000 writes take it an hour. This one
// compares names where they are, and is the same otherwise.
func FakeGCSForMany(t testing.TB) GCS {
	t.Helper()
	const objects = "internal/backend/memory.go"
	p := fakeGCS()
	p.name += "-for-many"
	p.edits = []edit{
		{objects, "obj.ID() == o.ID()", "obj.Generation == o.Generation && obj.Name == o.Name && obj.BucketName == o.BucketName"},
		{objects, "obj.IDNoGen() == o.IDNoGen()", "obj.Name == o.Name && obj.BucketName == o.BucketName"},
		{objects, "for i, o := range objectList {", "for i := range objectList {\n\t\to := &objectList[i]"},
		{objects, "for _, o := range objectList {", "for i := range objectList {\n\t\to := &objectList[i]"},
	}
	return startGCS(t, p)
}

func startGCS(t testing.TB, p program) GCS {
	t.Helper()
	path, err := p.path()
	if err != nil {
		Missing(t, err, p.install(), "gcs", p.name)
	}
	port := freePort(t)
	emulator := fmt.Sprintf("http://127.0.0.1:%d", port)
	host := frontCompose(t, emulator)
	g := GCS{Endpoint: "http://" + host, Bucket: "heirloom", Environ: []string{"STORAGE_EMULATOR_HOST=" + host}}
	args := []string{"-scheme", "http", "-host", "127.0.0.1", "-port", fmt.Sprint(port), "-backend", "memory", "-public-host", host}
	start(t, p.name, path, args, nil, emulator+"/_internal/healthcheck")
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	return g.WithBucket(t, g.Bucket)
}

// WithBucket makes another, empty bucket on the same server.
func (g GCS) WithBucket(t testing.TB, name string) GCS {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"name": %q}`, name))
	response, err := http.Post(g.Endpoint+"/storage/v1/b?project=test", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("create the bucket %s: %s", name, response.Status)
	}
	g.Bucket = name
	return g
}
