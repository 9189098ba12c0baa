package store_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestS3Keys reaches a server by keys that are handed over, and no others.
func TestS3Keys(t *testing.T) {
	server := servers.VersityGW(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "of-the-environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of-the-environment")
	keys := store.S3Options{AccessKey: store.Secret(server.AccessKey), SecretKey: store.Secret(server.SecretKey)}
	s := openWith(t, server.URL("p"), &store.Options{S3: keys})
	if err := s.Put(t.Context(), "o", nil); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Connection(t.Context()); err != nil || c.Identity != "the keys that were handed over" {
		t.Errorf("connected as %q, %v", c.Identity, err)
	}
	keys.SecretKey = "hunter2-hunter2"
	err := openWith(t, server.URL("p"), &store.Options{S3: keys}).Put(t.Context(), "o", nil)
	if !errors.Is(err, store.ErrPermission) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), server.AccessKey) {
		t.Errorf("a wrong key: %v", err)
	}
	for _, half := range []store.S3Options{{AccessKey: "hunter2"}, {SecretKey: "hunter2"}, {SessionToken: "hunter2"}} {
		if _, err := store.Open(t.Context(), "s3://b", &store.Options{S3: half}); !errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("half of the keys: %v", err)
		}
	}
}

// listening is a server that has nothing and keeps the headers of the last request.
func listening(t *testing.T) (url string, header func(name string) string) {
	var mu sync.Mutex
	last := http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"access_token": "exchanged", "expires_in": 3600, "token_type": "Bearer"}`))
			return
		}
		last = r.Header.Clone()
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	return server.URL, func(name string) string {
		mu.Lock()
		defer mu.Unlock()
		return last.Get(name)
	}
}

func TestS3SessionToken(t *testing.T) {
	url, header := listening(t)
	s := openWith(t, "s3://b?region=us-east-1&endpoint="+url, &store.Options{S3: store.S3Options{AccessKey: "a", SecretKey: "b", SessionToken: "c"}})
	if _, err := s.Get(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("get: %v", err)
	}
	if got := header("X-Amz-Security-Token"); got != "c" || !strings.Contains(header("Authorization"), "Credential=a/") {
		t.Errorf("the token is %q, the key in %q", got, header("Authorization"))
	}
}

// TestGCSCredentials looks at what arrives.
func TestGCSCredentials(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1") // to which the endpoint of a URL is preferred
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GCE_METADATA_HOST", "127.0.0.1:1")
	url, header := listening(t)
	account := serviceAccount(t, url+"/token")
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(account), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, query          string
		opts                 store.GCSOptions
		authorized, identity string
	}{
		{"a token", "", store.GCSOptions{AccessToken: "handed"}, "Bearer handed", "a token that was handed over"},
		{"a file", "", store.GCSOptions{CredentialsFile: file}, "Bearer exchanged", "the credentials in " + file},
		{"a text", "", store.GCSOptions{CredentialsJSON: store.Secret(account)}, "Bearer exchanged", "credentials that were handed over"},
		{"nobody", "&anonymous=true", store.GCSOptions{AccessToken: "handed"}, "", "nobody, as the URL asks for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openWith(t, "gs://b?endpoint="+url+c.query, &store.Options{GCS: c.opts})
			if _, err := s.Get(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("get: %v", err)
			}
			if got := header("Authorization"); got != c.authorized {
				t.Errorf("authorized by %q, want %q", got, c.authorized)
			}
			if got, err := s.Connection(t.Context()); err != nil || got.Identity != c.identity || got.Endpoint != url {
				t.Errorf("connected as %q to %s, %v", got.Identity, got.Endpoint, err)
			}
		})
	}
	for _, opts := range []store.GCSOptions{{CredentialsJSON: "hunter2"}, {CredentialsFile: filepath.Join(t.TempDir(), "gone")}} {
		_, err := openWith(t, "gs://b?endpoint="+url, &store.Options{GCS: opts}).Get(t.Context(), "o")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("credentials that are none: %v", err)
		}
	}
}

// serviceAccount is a new key that is exchanged at url.
func serviceAccount(t *testing.T, url string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	body, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@b.example", "private_key_id": "1", "token_uri": url,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: body})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDBFSToken has host and token from the options, whatever the environment says.
func TestDBFSToken(t *testing.T) {
	d := servers.DBFS(t)
	options := &store.Options{
		Environ: []string{"DATABRICKS_HOST=https://other.example", "DATABRICKS_TOKEN=other", "DATABRICKS_CONFIG_PROFILE=none"},
		DBFS:    store.DBFSOptions{Host: d.Host, Token: store.Secret(d.Token), Mount: t.TempDir()},
	}
	s := openWith(t, "dbfs:/p", options)
	if err := s.Put(t.Context(), "o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), "o"); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
	options.DBFS.Token = "hunter2-hunter2"
	if err := openWith(t, "dbfs:/p", options).Put(t.Context(), "o", nil); !errors.Is(err, store.ErrPermission) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a wrong token: %v", err)
	}
}
