package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob/memblob"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
)

func TestKindOf(t *testing.T) {
	s3 := func(code string) error {
		return fmt.Errorf("operation error S3: %w", &smithy.GenericAPIError{Code: code, Message: "m"})
	}
	status := func(n int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: n}}, Err: errors.New("x")}
	}
	google := func(n int, reason string) error {
		return fmt.Errorf("blob (code=NotFound): %w", &googleapi.Error{Code: n, Errors: []googleapi.ErrorItem{{Reason: reason}}})
	}
	path := func(n syscall.Errno) error { return &fs.PathError{Op: "open", Path: "p", Err: n} }
	dial := &url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	_, memErr := memblob.OpenBucket(nil).ReadAll(t.Context(), "none")
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"S3 no key", s3("NoSuchKey"), ErrNotExist},
		{"S3 no bucket", s3("NoSuchBucket"), ErrNotExist},
		{"S3 precondition", s3("PreconditionFailed"), ErrConflict},
		{"S3 conflict of conditional writes", s3("ConditionalRequestConflict"), ErrUnavailable},
		{"S3 throttling", s3("SlowDown"), ErrUnavailable},
		{"S3 no access", s3("AccessDenied"), ErrPermission},
		{"S3 wrong secret", s3("SignatureDoesNotMatch"), ErrPermission},
		{"S3 expired token", s3("ExpiredToken"), ErrPermission},
		{"S3 full", s3("XMinioStorageFull"), ErrNoSpace},
		{"S3 bad digest", s3("BadDigest"), ErrCorrupt},
		{"S3 not there", s3("NotImplemented"), ErrUnsupported},
		{"S3 parent is an object", s3("ObjectParentIsFile"), ErrInvalid},
		{"S3 range", s3("InvalidRange"), errRange},
		{"S3 HEAD 404", status(404), ErrNotExist},
		{"S3 HEAD 403", status(403), ErrPermission},
		{"S3 HEAD 412", status(412), ErrConflict},
		{"S3 HEAD 503", status(503), ErrUnavailable},
		{"S3 301, the wrong region", status(301), ErrInvalid},
		{"S3 400 without a known code", status(400), ErrInvalid},
		{"S3 too many requests", s3("RequestLimitExceeded"), ErrUnavailable},
		{"S3 expired request", s3("RequestExpired"), ErrPermission},
		{"S3 skewed clock", s3("RequestTimeTooSkewed"), ErrPermission},
		{"S3 507", status(507), ErrNoSpace},
		{"Google's token", fmt.Errorf("x: %w", &url.Error{Op: "Post", Err: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}}), ErrPermission},
		{"Google's token server", &oauth2.RetrieveError{Response: &http.Response{StatusCode: 503}}, ErrUnavailable},
		{"single sign-on", fmt.Errorf("x: %w", &ssocreds.InvalidTokenError{}), ErrPermission},
		{"nothing moves", &url.Error{Op: "Get", Err: stallError{time.Second}}, ErrUnavailable},
		{"GCS 400 for another checksum", &googleapi.Error{Code: 400, Message: "Provided CRC32C doesn't match calculated CRC32C"}, ErrCorrupt},
		{"GCS 403 is no absence", google(403, "forbidden"), ErrPermission},
		{"GCS 403 for haste", google(403, "rateLimitExceeded"), ErrUnavailable},
		{"GCS 401", google(401, ""), ErrPermission},
		{"GCS 404", google(404, ""), ErrNotExist},
		{"GCS 412", google(412, "conditionNotMet"), ErrConflict},
		{"GCS 429", google(429, ""), ErrUnavailable},
		{"GCS 500", google(500, ""), ErrUnavailable},
		{"GCS no object", fmt.Errorf("x: %w", storage.ErrObjectNotExist), ErrNotExist},
		{"GCS no bucket", fmt.Errorf("x: %w", storage.ErrBucketNotExist), ErrNotExist},
		{"ENOENT", path(syscall.ENOENT), ErrNotExist},
		{"EEXIST", path(syscall.EEXIST), ErrExist},
		{"EACCES", path(syscall.EACCES), ErrPermission},
		{"EROFS", path(syscall.EROFS), ErrPermission},
		{"ENOSPC", path(syscall.ENOSPC), ErrNoSpace},
		{"EDQUOT", path(syscall.EDQUOT), ErrNoSpace},
		{"ENOTDIR", path(syscall.ENOTDIR), ErrInvalid},
		{"ENAMETOOLONG", path(syscall.ENAMETOOLONG), ErrInvalid},
		{"EMFILE", path(syscall.EMFILE), ErrUnavailable},
		{"EIO is of no kind", path(syscall.EIO), nil},
		{"refused connection", dial, ErrUnavailable},
		{"no such host", &net.DNSError{Err: "no such host", Name: "x"}, ErrUnavailable},
		{"timeout", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, ErrUnavailable},
		{"broken off", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), ErrUnavailable},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, ErrUnavailable},
		{"cancelled is of no kind", &url.Error{Op: "Get", Err: context.Canceled}, nil},
		{"deadline is of no kind", fmt.Errorf("x: %w", context.DeadlineExceeded), nil},
		{"gocloud alone", memErr, ErrNotExist},
		{"one of ours", fmt.Errorf("x: %w", ErrCorrupt), ErrCorrupt},
		{"nothing known", errors.New("x"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kindOf(c.err); got != c.want {
				t.Errorf("kind is %v, want %v", got, c.want)
			}
			if e := wrap("get", "k", c.err); c.want != nil && !errors.Is(e, c.want) || !errors.Is(e, c.err) && c.name[0] != 'E' {
				t.Errorf("wrapped %v is neither its kind nor its cause", e)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"dial", &url.Error{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, true},
		{"no such host", &net.DNSError{Name: "x"}, true},
		{"silence", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, true},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, false},
		{"throttling", &googleapi.Error{Code: 429}, false},
	} {
		if got := unreachable(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestThrottling(t *testing.T) {
	s3 := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"S3 says so", s3("SlowDown"), true},
		{"a limit of an account", s3("RequestLimitExceeded"), true},
		{"S3 is broken", s3("InternalError"), false},
		{"another write was first", s3("ConditionalRequestConflict"), false},
		{"GCS 429", &googleapi.Error{Code: 429}, true},
		{"GCS 403 for haste", &googleapi.Error{Code: 403, Errors: []googleapi.ErrorItem{{Reason: "rateLimitExceeded"}}}, true},
		{"GCS 403", &googleapi.Error{Code: 403}, false},
		{"nothing", nil, false},
	} {
		if got := throttling(wrap("get", "k", c.err)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
