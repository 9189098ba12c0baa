package doctor_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/heirloom-ml/heirloom/cmd/internal/doctor"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/mutant"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// subject is a sound one, for a store that may have a defect.
func subject(t *testing.T, s *store.Store) doctor.Subject {
	t.Cleanup(func() { s.Close() })
	return doctor.Subject{
		Store:    s,
		Format:   tracker.NewFileTracker(s.Sub("tracker"), nil).Format,
		Dirs:     []doctor.Dir{{Use: "scratch", Path: t.TempDir()}},
		Disk:     func(string) (doctor.Disk, error) { return doctor.Disk{Kind: "ext4", Free: 1 << 40}, nil },
		LookPath: func(string) (string, error) { return "", errors.New("not found") },
		Now:      time.Now,
	}
}

func openURL(t *testing.T, url string, intercept func(context.Context, store.Request, func() error) error) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, &store.Options{MaxAttempts: 1, Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refuse answers every request of one kind with an error.
func refuse(op string, kind error) func(context.Context, store.Request, func() error) error {
	return func(_ context.Context, r store.Request, do func() error) error {
		if r.Op == op {
			return &store.Error{Kind: kind, Err: errors.New("the server says no")}
		}
		return do()
	}
}

// first is the first finding that is neither ok nor skipped.
func first(list []doctor.Finding) doctor.Finding {
	i := slices.IndexFunc(list, func(f doctor.Finding) bool { return f.Status == doctor.Failed || f.Status == doctor.Warning })
	if i < 0 {
		return doctor.Finding{}
	}
	return list[i]
}

// wantFinding examines and looks at the first thing that is wrong.
func wantFinding(t *testing.T, s doctor.Subject, status doctor.Status, check, message string, kind error) {
	t.Helper()
	got := first(slices.Collect(doctor.Examine(t.Context(), s)))
	if got.Status != status || got.Check != check || !strings.Contains(got.Message, message) {
		t.Errorf("found %q %q: %q, want %q %q: %q", got.Status, got.Check, got.Message, status, check, message)
	}
	if kind != nil && !errors.Is(got.Err, kind) {
		t.Errorf("the kind is %v, want %v", got.Err, kind)
	}
	if got.Status == doctor.Failed && got.Err == nil {
		t.Error("a failure has no kind")
	}
}

func TestSoundStores(t *testing.T) {
	dir := t.TempDir()
	for name, url := range map[string]string{"memory": "mem://", "a directory": dir, "a directory to come": filepath.Join(dir, "a", "b")} {
		t.Run(name, func(t *testing.T) {
			list := slices.Collect(doctor.Examine(t.Context(), subject(t, openURL(t, url, nil))))
			if f := first(list); f.Check != "" || len(list) < 15 {
				t.Errorf("%d findings, with %+v", len(list), f)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// TestDefects finds what mutants do wrong, by a check and in words that tell them apart.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		mutant, check, message string
		kind                   error
	}{
		{"create looks first and writes then", "create race", "of 8 connections created the same object", store.ErrConflict},
		{"create overwrites", "create race", "8 of 8 connections created the same object", store.ErrConflict},
		{"a read ends early, with the right size", "bytes", "a read is cut or spoilt", store.ErrCorrupt},
		{"a read ends early, with the size of what it gave", "bytes", "bytes came back", store.ErrCorrupt},
		{"a read flips a bit of long objects", "bytes", "byte 5000 of 65537 came back changed", store.ErrCorrupt},
		{"a range begins one byte late", "bytes", "in a range", store.ErrCorrupt},
		{"a long write is cut", "bytes", "1048576 of 1048577 bytes came back", store.ErrCorrupt},
		{"a list drops its last entry", "listing", "lacks 1 of 24 objects right after they were written", store.ErrCorrupt},
		{"a list does not show the last write yet", "listing", "lacks 1 of 24", store.ErrCorrupt},
		{"a list still shows what was deleted", "listing", "still shows 1 objects that are gone", store.ErrCorrupt},
		{"a list is not sorted", "listing", "not in order", store.ErrCorrupt},
		{"a list tells wrong sizes", "listing", "a listing says", store.ErrCorrupt},
		{"delete does nothing", "listing", "still shows 4 objects that are gone", store.ErrCorrupt},
	} {
		t.Run(tt.mutant, func(t *testing.T) {
			m, ok := mutant.Named(tt.mutant)
			if !ok {
				t.Fatal("there is no such mutant")
			}
			wantFinding(t, subject(t, m.Open(&store.Options{MaxAttempts: 1})), doctor.Failed, tt.check, tt.message, tt.kind)
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		op      string
		kind    error
		check   string
		message string
	}{
		{"list", store.ErrPermission, "list", "may not list: the server says no"},
		{"put", store.ErrPermission, "write", "may not write"},
		{"get", store.ErrPermission, "read", "may not read"},
		{"delete", store.ErrPermission, "delete", "may not delete"},
		{"put", store.ErrNoSpace, "write", "no space left"},
		{"list", store.ErrNotExist, "endpoint", "cannot reach the store"},
		{"list", store.ErrUnavailable, "endpoint", "cannot reach the store"},
		{"create", store.ErrUnsupported, "create race", "cannot be created exclusively"},
	} {
		t.Run(tt.message, func(t *testing.T) {
			s := openURL(t, "mem://", refuse(tt.op, tt.kind))
			list := slices.Collect(doctor.Examine(t.Context(), subject(t, s)))
			if got := first(list); got.Check != tt.check || !strings.Contains(got.Message, tt.message) || !errors.Is(got.Err, tt.kind) {
				t.Errorf("found %q: %q (%v), want %q: %q (%v)", got.Check, got.Message, got.Err, tt.check, tt.message, tt.kind)
			}
		})
	}
}

func TestThisMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	disk := func(d doctor.Disk) func(*doctor.Subject) {
		return func(s *doctor.Subject) { s.Disk = func(string) (doctor.Disk, error) { return d, nil } }
	}
	const much = 1 << 40
	for _, tt := range []struct {
		name    string
		spoil   func(*doctor.Subject)
		status  doctor.Status
		check   string
		message string
	}{
		{"clock behind", func(s *doctor.Subject) { s.Now = func() time.Time { return time.Now().Add(-5 * time.Minute) } }, doctor.Failed, "clock", "5m0s behind the store's"},
		{"clock ahead", func(s *doctor.Subject) { s.Now = func() time.Time { return time.Now().Add(time.Hour) } }, doctor.Failed, "clock", "1h0m0s ahead of the store's"},
		{"clock a little off", func(s *doctor.Subject) { s.Now = func() time.Time { return time.Now().Add(time.Minute) } }, doctor.Warning, "clock", "1m0s ahead"},
		{"nfs", disk(doctor.Disk{Kind: "nfs", Free: much}), doctor.Warning, "file system", "network file system (nfs)"},
		{"fuse", disk(doctor.Disk{Kind: "fuse", Free: much}), doctor.Warning, "file system", "FUSE"},
		{"tmpfs", disk(doctor.Disk{Kind: "tmpfs", Free: much}), doctor.Warning, "file system", "gone at the next start"},
		{"full disk", disk(doctor.Disk{Kind: "ext4", Free: 5 << 20}), doctor.Warning, "file system", "only 5 MiB are free"},
		{"directory in the way", func(s *doctor.Subject) { s.Dirs = []doctor.Dir{{Use: "cache", Path: filepath.Join(file, "x")}} }, doctor.Failed, "directories", "the cache directory cannot be written"},
		{"newer format", func(s *doctor.Subject) {
			s.Format = func(context.Context) (tracker.Format, error) {
				return tracker.Format{}, &store.Error{Kind: store.ErrUnsupported, Err: errors.New("made in format 9")}
			}
		}, doctor.Failed, "tracker", "format 9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := subject(t, openURL(t, t.TempDir(), nil))
			tt.spoil(&s)
			wantFinding(t, s, tt.status, tt.check, tt.message, nil)
		})
	}
}

// answering is the URL of an S3 store whose server answers all the same.
func answering(t *testing.T, status int, kind, body string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return "s3://bucket/p?endpoint=" + server.URL
}

func code(name string) string {
	return `<?xml version="1.0"?><Error><Code>` + name + `</Code><Message>` + name + `</Message></Error>`
}

// TestFarSides answers as servers and networks do that are not what they should be.
func TestFarSides(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the client hangs up
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mute.Close() })
	for _, tt := range []struct {
		name, url, message string
		kind               error
	}{
		{"web page", answering(t, 200, "text/html; charset=utf-8", "<html><body>log in</body></html>"), "answers with a web page", store.ErrInvalid},
		{"skewed", answering(t, 403, "application/xml", code("RequestTimeTooSkewed")), "the clock of this machine", store.ErrPermission},
		{"expired", answering(t, 400, "application/xml", code("ExpiredToken")), "the credentials have expired", store.ErrPermission},
		{"unknown key", answering(t, 403, "application/xml", code("InvalidAccessKeyId")), "does not know this access key", store.ErrPermission},
		{"wrong secret", answering(t, 403, "application/xml", code("SignatureDoesNotMatch")), "the secret key does not belong", store.ErrPermission},
		{"other region", answering(t, 400, "application/xml", code("AuthorizationHeaderMalformed")), "in another region", nil},
		{"no bucket", answering(t, 404, "application/xml", code("NoSuchBucket")), "has no bucket bucket", store.ErrNotExist},
		{"slow down", answering(t, 503, "application/xml", code("SlowDown")), "cannot reach the store", store.ErrUnavailable},
		{"refused", "s3://bucket/p?endpoint=http://127.0.0.1:1", "nothing listens at 127.0.0.1:1", store.ErrUnavailable},
		{"no name", "s3://bucket/p?endpoint=http://no.such.host.invalid", "no.such.host.invalid cannot be resolved", store.ErrUnavailable},
		{"unknown authority", "s3://bucket/p?endpoint=" + secure.URL, "an authority that this machine does not know", store.ErrPermission},
		{"plain where TLS is meant", "s3://bucket/p?endpoint=" + strings.Replace(plain.URL, "http:", "https:", 1), "speaks plain HTTP", store.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			setCredentials(t)
			wantFinding(t, subject(t, openURL(t, tt.url, nil)), doctor.Failed, "endpoint", tt.message, tt.kind)
		})
	}
	t.Run("silent", func(t *testing.T) {
		setCredentials(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		s := subject(t, openURL(t, "s3://bucket/p?endpoint=http://"+mute.Addr().String(), nil))
		if got := first(slices.Collect(doctor.Examine(ctx, s))); got.Check != "endpoint" || !strings.Contains(got.Message, "no answer came in time") {
			t.Errorf("found %+v", got)
		}
	})
}

func setCredentials(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ENDPOINT_URL": "", "AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
	} {
		t.Setenv(name, value)
	}
}

// TestS3Server examines a real server on connections of their own, sound and with conditions that it ignores.
func TestS3Server(t *testing.T) {
	server := servers.VersityGW(t)
	examine := func(t *testing.T, endpoint string) doctor.Subject {
		through := server
		through.Endpoint = endpoint
		s := subject(t, openURL(t, through.URL("p"), nil))
		s.Connect = func(ctx context.Context) (*store.Store, error) { return store.Open(ctx, through.URL("p"), nil) }
		return s
	}
	t.Run("sound", func(t *testing.T) {
		s := examine(t, server.Endpoint)
		list := slices.Collect(doctor.Examine(t.Context(), s))
		if f := first(list); f.Check != "" {
			t.Errorf("found %+v", f)
		}
		for o, err := range s.Store.List(t.Context(), "") {
			t.Errorf("it leaves %q, %v", o.Key, err)
		}
	})
	t.Run("leftover upload", func(t *testing.T) {
		s := examine(t, server.Endpoint)
		client := s3.New(s3.Options{
			BaseEndpoint: &server.Endpoint, Region: "us-east-1", UsePathStyle: true,
			Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
		})
		if _, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &server.Bucket, Key: aws.String("p/broken")}); err != nil {
			t.Fatal(err)
		}
		s.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
		for f := range doctor.Examine(t.Context(), s) {
			if f.Check == "leftover uploads" && (f.Status != doctor.Warning || !strings.Contains(f.Message, "1 uploads were begun more than a day ago")) {
				t.Errorf("found %+v", f)
			}
		}
	})
	for name, want := range map[string][2]string{
		"a PUT ignores If-None-Match": {"create race", "8 of 8 connections created the same object"},
		"a PUT ignores If-Match":      {"replace race", "lines that were added by comparison"},
	} {
		t.Run(name, func(t *testing.T) {
			all := mutant.S3()
			i := slices.IndexFunc(all, func(d mutant.S3Defect) bool { return d.Name == name })
			proxy := httptest.NewServer(all[i].Before(server.Endpoint, server.AccessKey, server.SecretKey))
			t.Cleanup(proxy.Close)
			wantFinding(t, examine(t, proxy.URL), doctor.Failed, want[0], want[1], store.ErrConflict)
		})
	}
}

// TestInterrupted clears what was written although the context has ended.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := subject(t, openURL(t, "mem://", nil))
	for f := range doctor.Examine(ctx, s) {
		if f.Check == "bytes" {
			cancel()
		}
	}
	for o, err := range s.Store.List(t.Context(), "") {
		t.Errorf("it leaves %q, %v", o.Key, err)
	}
}
