package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestS3Servers(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(testing.TB) S3
	}{{"MinIO", MinIO}, {"VersityGW", VersityGW}} {
		t.Run(c.name, func(t *testing.T) {
			s := c.start(t)
			if os.Getenv("AWS_ENDPOINT_URL") != s.Endpoint {
				t.Errorf("AWS_ENDPOINT_URL is %q, want %q", os.Getenv("AWS_ENDPOINT_URL"), s.Endpoint)
			}
			if got := s.URL("a/b"); !strings.HasPrefix(got, "s3://heirloom/a/b?endpoint=http") {
				t.Errorf("the URL is %q", got)
			}
		})
	}
}

func TestFakeGCS(t *testing.T) {
	if g := FakeGCS(t); g.URL("") != "gs://heirloom" {
		t.Errorf("the URL is %q", g.URL(""))
	}
}

// TestEdit changes all of a text in a file, and refuses a file that does not hold it,
// as that of another version may not.
func TestEdit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	if err := os.WriteFile(file, []byte("slow(x)\nslow(y)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := edit{file: "a.go", old: "slow(", new: "quick("}
	if err := e.apply(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "quick(x)\nquick(y)\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if err := e.apply(dir); err == nil {
		t.Error("what is not there was edited")
	}
}

func TestPython(t *testing.T) {
	python := Python(t)
	if out, err := exec.Command(python, "-c", "print(1+1)").Output(); err != nil || string(out) != "2\n" {
		t.Errorf("python printed %q, %v", out, err)
	}
	if again := Python(t); again != python {
		t.Errorf("a second call made another environment: %s, %s", again, python)
	}
}
