package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// page is an answer of that type with headers, none of which is a store's.
func page(status int, contentType, body string, headers ...string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		ok(headers...)(w, r)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// with adds headers to an answer.
func with(next answer, headers ...string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		ok(headers...)(w, r)
		next(w, r)
	}
}

// TestAdvice wants errors that say what is to be done.
func TestAdvice(t *testing.T) {
	early := time.Now().Add(-14 * time.Minute).UTC().Format(http.TimeFormat)
	late := time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)
	portal := "<html>Welcome to the hotel</html>"
	for _, c := range []struct {
		name, scheme string
		answer       answer
		want         error
		says         string
	}{
		{"expired token", "s3", s3Error(400, "ExpiredToken"), store.ErrPermission, "renew them"},
		{"expired request", "s3", s3Error(403, "RequestExpired"), store.ErrPermission, "renew them"},
		{"clock behind", "s3", with(s3Error(403, "RequestTimeTooSkewed"), "Date", late), store.ErrPermission, "2h0m0s behind"},
		{"clock ahead", "s3", with(s3Error(403, "RequestTimeTooSkewed"), "Date", early), store.ErrPermission, "14m0s ahead"},
		{"another region", "s3", with(s3Error(301, "PermanentRedirect"), "X-Amz-Bucket-Region", "eu-north-1"), store.ErrInvalid, "?region=eu-north-1"},
		{
			"another region, in words", "s3",
			page(400, "application/xml", "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'us-east-1' is wrong; expecting 'eu-west-9'</Message></Error>"),
			store.ErrInvalid, "?region=eu-west-9",
		},
		{"a full server", "s3", s3Error(507, "XMinioStorageFull"), store.ErrNoSpace, ""},
		{"a web page", "s3", page(200, "text/html", portal), store.ErrUnavailable, "a web page answers"},
		{"a web page without it", "s3", page(404, "text/html; charset=utf-8", portal), store.ErrUnavailable, "a web page answers"},
		{"a web page for Google", "gs", page(200, "text/html", portal), store.ErrUnavailable, "a web page answers"},
		{"refused by Google", "gs", googleError(403, "forbidden"), store.ErrPermission, ""},
		{"not known to Google", "gs", googleError(401, "authError"), store.ErrPermission, "gcloud auth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, _ := cueServer(t, c.answer)
			at := map[string]string{"s3": "s3://b?endpoint=" + url, "gs": "gs://b"}[c.scheme]
			s := openWith(t, at, &store.Options{MaxAttempts: 2, RetryDelay: time.Millisecond})
			for verb, err := range map[string]error{
				"put": s.Put(t.Context(), "o", []byte("x")), "get": second(s.Get(t.Context(), "o")), "list": firstError(s, t.Context()),
			} {
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || errors.Is(err, store.ErrNotExist) {
					t.Errorf("%s: error is %v, want %v that says %q", verb, err, c.want, c.says)
				}
			}
		})
	}
}

// TestSchemeMismatch asks a server for https that speaks http.
func TestSchemeMismatch(t *testing.T) {
	url, _ := cueServer(t, s3Error(404, "NoSuchKey"))
	s := openWith(t, "s3://b?endpoint="+strings.Replace(url, "http:", "https:", 1), &store.Options{MaxAttempts: 2, RetryDelay: time.Millisecond})
	for verb, err := range map[string]error{"put": s.Put(t.Context(), "o", []byte("x")), "list": firstError(s, t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "speaks http; write http:// instead of https://") {
			t.Errorf("%s: %v, want advice to write http://", verb, err)
		}
	}
}

// TestRenewedCredentials has a credentials file change while a store is open, as
// the tools of single sign-on do.
func TestRenewedCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	write := func(id string) {
		text := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = x\n", id)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("OLD")
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		requests++
		if strings.Contains(r.Header.Get("Authorization"), "Credential=OLD") {
			write("NEW")
			s3Error(400, "ExpiredToken")(w, r)
			return
		}
		ok("ETag", `"v1"`)(w, r)
	}))
	defer server.Close()
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := openStore(t, "s3://b?endpoint="+server.URL)
	if err := s.Put(t.Context(), "o", []byte("x")); err != nil || requests != 2 {
		t.Errorf("put with credentials that were renewed: %v after %d requests, want 2", err, requests)
	}
}

// TestStalls has servers that take or send some bytes and then nothing more.
func TestStalls(t *testing.T) {
	release := make(chan struct{})
	hang := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("ETag", `"v1"`)
			if r.Header.Get("Range") != "" { // no byte of the rest ever comes
				w.Header().Set("Content-Range", "bytes 4-999/1000")
				w.Header().Set("Content-Length", "996")
				w.WriteHeader(http.StatusPartialContent)
			} else {
				w.Header().Set("Content-Length", "1000")
				io.WriteString(w, "some")
			}
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	server := httptest.NewServer(http.HandlerFunc(hang))
	defer server.Close()
	defer close(release) // before Close, which waits for the answers
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	s := openWith(t, "s3://b?endpoint="+server.URL, &store.Options{StallTimeout: 50 * time.Millisecond, MaxAttempts: 2, RetryDelay: time.Millisecond})
	for verb, err := range map[string]error{
		"get":       second(s.Get(t.Context(), "o")),
		"put":       s.Put(t.Context(), "o", []byte("x")),
		"large put": s.Put(t.Context(), "o", make([]byte, 20<<20)),
		"stat":      second(s.Stat(t.Context(), "o")),
	} {
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "nothing has moved") {
			t.Errorf("%s: error is %v, want ErrUnavailable because nothing moves", verb, err)
		}
	}
}

// TestUnconditionalServer has a server that is said to ignore conditions.
func TestUnconditionalServer(t *testing.T) {
	url, requests := cueServer(t, ok("ETag", `"v1"`))
	s := openStore(t, "s3://b?conditional_writes=false&endpoint="+url)
	if c := s.Capabilities(); c.AtomicCreate || c.Replace {
		t.Errorf("capabilities are %+v, want no conditional writes", c)
	}
	for verb, err := range map[string]error{
		"create": s.Create(t.Context(), "o", nil), "replace": s.Replace(t.Context(), "o", nil, "v1"),
	} {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: error is %v, want ErrUnsupported", verb, err)
		}
	}
	if err := s.Put(t.Context(), "o", nil); err != nil || len(*requests) != 1 {
		t.Errorf("put: %v after %d requests, want 1", err, len(*requests))
	}
}

// TestHiddenKeys has keys of the place where GCS keeps parts.
func TestHiddenKeys(t *testing.T) {
	_, requests := cueServer(t, storedAs("AAAAAA=="))
	s := openStore(t, "gs://b")
	if err := s.Put(t.Context(), ".heirloom-parts/o", nil); !errors.Is(err, store.ErrInvalid) || len(*requests) > 0 {
		t.Errorf("put of a key that is never listed: %v, want ErrInvalid", err)
	}
}

// TestPayloadSigning wants a SHA-256 of bodies exactly where nothing else guards
// them.
func TestPayloadSigning(t *testing.T) {
	for _, c := range []struct {
		query string
		want  bool
	}{{"", false}, {"&unsigned_payload=false", true}, {"&unsigned_payload=true", false}} {
		signed := false
		url, _ := cueServer(t, func(w http.ResponseWriter, r *http.Request) {
			signed = r.Header.Get("X-Amz-Content-Sha256") != "UNSIGNED-PAYLOAD"
			if r.Header.Get("X-Amz-Checksum-Crc32c") == "" {
				t.Error("there is no CRC-32C")
			}
			ok("ETag", `"v1"`)(w, r)
		})
		if err := openStore(t, "s3://b?endpoint="+url+c.query).Put(t.Context(), "o", []byte("x")); err != nil {
			t.Error(err)
		}
		if signed != c.want {
			t.Errorf("on this machine with %q: signed is %v, want %v", c.query, signed, c.want)
		}
	}
}
