package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// answer is what a server that fails on cue says to one request.
type answer func(w http.ResponseWriter, r *http.Request)

// cueServer gives its answers in turn, the last one for ever.
func cueServer(t *testing.T, answers ...answer) (url string, requests *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		next := answers[min(len(seen), len(answers)-1)]
		seen = append(seen, r.Method)
		next(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	t.Setenv("STORAGE_EMULATOR_HOST", server.Listener.Addr().String())
	return server.URL, &seen
}

// s3Error is an error in S3's form.
func s3Error(status int, code string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>on cue</Message></Error>", code)
	}
}

func googleError(status int, reason string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"code": %d, "message": "on cue", "errors": [{"reason": %q}]}}`, status, reason)
	}
}

func ok(headers ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
	}
}

// cutBody promises all of body and breaks off after n bytes.
func cutBody(body string, n int) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		var from int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
			w.Header().Set("Content-Length", fmt.Sprint(len(body)-from))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		}
		io.WriteString(w, body[from:min(from+n, len(body))])
		w.(http.Flusher).Flush()
		if from+n < len(body) {
			panic(http.ErrAbortHandler)
		}
	}
}

func TestS3Faults(t *testing.T) {
	conflict := s3Error(http.StatusConflict, "ConditionalRequestConflict")
	for _, c := range []struct {
		name     string
		answers  []answer
		want     error
		requests string
	}{
		{"409 of a conditional write is tried again", []answer{conflict, conflict, ok("ETag", `"v1"`)}, nil, "PUT PUT PUT"},
		{"throttling is tried again", []answer{s3Error(503, "SlowDown"), ok("ETag", `"v1"`)}, nil, "PUT PUT"},
		{"an inner error is tried again", []answer{s3Error(500, "InternalError"), ok("ETag", `"v1"`)}, nil, "PUT PUT"},
		{"refusal is not", []answer{s3Error(403, "AccessDenied")}, store.ErrPermission, "PUT"},
		{"an expired token is not", []answer{s3Error(400, "ExpiredToken")}, store.ErrPermission, "PUT"},
		{"existence is not", []answer{s3Error(412, "PreconditionFailed")}, store.ErrExist, "PUT"},
		{"a full server is not", []answer{s3Error(507, "XMinioStorageFull")}, store.ErrNoSpace, "PUT"},
		{
			"a lost answer and another's object", []answer{s3Error(500, "InternalError"), s3Error(412, "PreconditionFailed"), ok("x-amz-meta-heirloom-write-id", "another")},
			store.ErrExist, "PUT PUT HEAD",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, requests := cueServer(t, c.answers...)
			s := openStore(t, "s3://b?endpoint="+url)
			if err := s.Create(t.Context(), "o", []byte("x")); !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if got := strings.Join(*requests, " "); got != c.requests {
				t.Errorf("requests were %s, want %s", got, c.requests)
			}
			if got := s.Stats().Total(); got != int64(len(*requests)) {
				t.Errorf("%d requests are counted, want %d", got, len(*requests))
			}
		})
	}
}

func TestBrokenRead(t *testing.T) {
	body := strings.Repeat("0123456789", 1000)
	replaced := s3Error(412, "PreconditionFailed")
	for _, c := range []struct {
		name    string
		answers []answer
		want    error
	}{
		{"taken up again at the same byte", []answer{cutBody(body, 4000), cutBody(body, 100), cutBody(body, 20_000)}, nil},
		{"short for ever", []answer{cutBody(body, 4000), cutBody(body, 0)}, store.ErrCorrupt},
		{"replaced meanwhile, and read anew", []answer{cutBody(body, 4000), replaced, cutBody(body, 20_000)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, requests := cueServer(t, c.answers...)
			s := openStore(t, "s3://b?endpoint="+url)
			got, err := s.Get(t.Context(), "o")
			if !errors.Is(err, c.want) || c.want == nil && string(got) != body {
				t.Errorf("get: %d bytes, %v, want %d, %v", len(got), err, len(body), c.want)
			}
			if n := s.Stats().Requests["get"]; n != int64(len(*requests)) {
				t.Errorf("%d requests are counted, want %d", n, len(*requests))
			}
		})
	}
}

func storedAs(crc32c string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name": "o", "size": "1", "generation": "7", "crc32c": %q}`, crc32c)
	}
}

func TestGCSFaults(t *testing.T) {
	stored := storedAs("qTxfkw==") // CRC32C of "x"
	for _, c := range []struct {
		name     string
		answers  []answer
		want     error
		requests int
	}{
		{"refused access is no absence", []answer{googleError(403, "forbidden")}, store.ErrPermission, 1},
		{"haste is tried again", []answer{googleError(403, "rateLimitExceeded"), stored}, nil, 2},
		{"429 is tried again", []answer{googleError(429, "rateLimitExceeded"), stored}, nil, 2},
		{"503 is tried again, and not for ever", []answer{googleError(503, "backendError")}, store.ErrUnavailable, 3},
		{"existence is not", []answer{googleError(412, "conditionNotMet")}, store.ErrExist, 1},
		{"what arrived differs", []answer{storedAs("z8SuHQ==")}, store.ErrCorrupt, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, requests := cueServer(t, c.answers...)
			s := openWith(t, "gs://b", &store.Options{MaxAttempts: 3})
			if err := s.Create(t.Context(), "o", []byte("x")); !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if len(*requests) != c.requests || s.Stats().Total() != int64(c.requests) {
				t.Errorf("%d requests, %d counted, want %d", len(*requests), s.Stats().Total(), c.requests)
			}
		})
	}
	for name, do := range map[string]func(s *store.Store) error{
		"get":  func(s *store.Store) error { return second(s.Get(t.Context(), "o")) },
		"stat": func(s *store.Store) error { return second(s.Stat(t.Context(), "o")) },
		"list": func(s *store.Store) error { return firstError(s, t.Context()) },
	} {
		cueServer(t, googleError(403, "forbidden"))
		if err := do(openStore(t, "gs://b")); !errors.Is(err, store.ErrPermission) || errors.Is(err, store.ErrNotExist) {
			t.Errorf("%s without access: %v, want ErrPermission", name, err)
		}
	}
}
