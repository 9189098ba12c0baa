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
	p := program{"fake-gcs-server", "github.com/fsouza/fake-gcs-server", "v1.56.1"}
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
