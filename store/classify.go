package store

import (
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/gcerrors"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
)

// kindOf tells the kind of an error, nil if none fits. It looks past the
// libraries' own classes, which turn refused access into absence (gcsblob) and
// throttling into "unknown" (s3blob), to what the provider or system said.
func kindOf(err error) error {
	for _, kind := range []error{ErrExist, ErrConflict, ErrCorrupt, ErrUnavailable, ErrNoSpace, ErrUnsupported} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	if isEnded(err) {
		return nil
	}
	for _, classify := range []func(error) (kind error, known bool){
		kindOfCredentials, kindOfS3, kindOfGoogle, kindOfSystem, kindOfFS, kindOfNetwork, kindOfGocloud,
	} {
		if kind, known := classify(err); known {
			return kind
		}
	}
	return nil
}

// kindOfS3 goes by the code where S3 sends one, and by the status for HEAD.
func kindOfS3(err error) (error, bool) {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if kind := kindOfS3Code(api.ErrorCode()); kind != nil {
			return kind, true
		}
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && response.HTTPStatusCode() > 0 {
		return kindOfStatus(response.HTTPStatusCode())
	}
	return nil, false
}

func kindOfS3Code(code string) error {
	if throttlingCode(code) {
		return ErrUnavailable
	}
	switch code {
	case "NoSuchKey", "NoSuchBucket", "NotFound", "NoSuchUpload":
		return ErrNotExist
	case "PreconditionFailed":
		return ErrConflict
	case "ConditionalRequestConflict", "OperationAborted", // neither was applied
		"InternalError", "ServiceUnavailable", "RequestTimeout", "PriorRequestNotComplete", "TemporaryRedirect":
		return ErrUnavailable
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidToken",
		"TokenRefreshRequired", "RequestTimeTooSkewed", "InvalidObjectState", "AllAccessDisabled", "AccountProblem", "Forbidden", "Unauthorized":
		return ErrPermission
	case "InvalidRange":
		return errRange
	case "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch":
		return ErrCorrupt
	case "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded":
		return ErrNoSpace
	case "NotImplemented", "MethodNotAllowed":
		return ErrUnsupported
	case "ObjectParentIsFile", "XMinioParentIsObject", "KeyTooLongError", "InvalidBucketName":
		return ErrInvalid
	}
	return nil
}

// throttlingCode reports whether S3's name for an error asks for fewer requests.
func throttlingCode(code string) bool {
	switch code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "ServerBusy", "Throttling", "ThrottlingException",
		"RequestThrottled", "RequestThrottledException", "RequestLimitExceeded", "TooManyRequests", "TooManyRequestsException",
		"BandwidthLimitExceeded":
		return true
	}
	return false
}

func kindOfGoogle(err error) (error, bool) {
	if errors.Is(err, storage.ErrObjectNotExist) || errors.Is(err, storage.ErrBucketNotExist) {
		return ErrNotExist, true
	}
	api, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return nil, false
	}
	throttled := slices.ContainsFunc(api.Errors, func(e googleapi.ErrorItem) bool {
		return e.Reason == "rateLimitExceeded" || e.Reason == "userRateLimitExceeded"
	})
	switch {
	case throttled:
		return ErrUnavailable, true
	case api.Code == http.StatusBadRequest && strings.Contains(api.Message, "match calculated CRC32C"): // its reason is but "invalid"
		return ErrCorrupt, true
	}
	return kindOfStatus(api.Code)
}

func kindOfStatus(status int) (error, bool) {
	switch status {
	case http.StatusNotFound:
		return ErrNotExist, true
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrPermission, true
	case http.StatusPreconditionFailed, http.StatusNotModified:
		return ErrConflict, true
	case http.StatusRequestedRangeNotSatisfiable:
		return errRange, true
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return ErrUnavailable, true
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return ErrUnsupported, true
	case http.StatusInsufficientStorage:
		return ErrNoSpace, true
	}
	switch {
	case status >= 500:
		return ErrUnavailable, true
	case status >= 300:
		return ErrInvalid, true // a redirect is the wrong region or address
	}
	return nil, false
}

// kindOfSystem covers local disks, and what lies below a broken connection.
func kindOfSystem(err error) (error, bool) {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return nil, false
	}
	switch number {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return ErrNoSpace, true
	case syscall.EROFS, syscall.EACCES, syscall.EPERM:
		return ErrPermission, true
	case syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.ELOOP, syscall.ENOTEMPTY:
		return ErrInvalid, true
	case syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ESTALE, syscall.ETIMEDOUT,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ENOTCONN,
		syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET:
		return ErrUnavailable, true
	}
	return nil, false
}

// kindOfCredentials covers those that are fetched on the way.
func kindOfCredentials(err error) (error, bool) {
	if google, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		unavailable := google.Response != nil && google.Response.StatusCode >= 500
		if unavailable {
			return ErrUnavailable, true
		}
		return ErrPermission, true
	}
	_, isSSO := errors.AsType[*ssocreds.InvalidTokenError](err)
	return ErrPermission, isSSO
}

func kindOfNetwork(err error) (error, bool) {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return ErrPermission, true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return ErrInvalid, true // plain HTTP where TLS was meant
	}
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isOp := errors.AsType[*net.OpError](err)
	_, isURL := errors.AsType[*url.Error](err) // the request found no answer
	if isDNS || isOp || isURL || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return ErrUnavailable, true
	}
	// Last, for a syscall.Errno is a net.Error too.
	timeout, ok := errors.AsType[net.Error](err)
	return ErrUnavailable, ok && timeout.Timeout()
}

func kindOfFS(err error) (error, bool) {
	for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid} {
		if errors.Is(err, kind) {
			return kind, true
		}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return ErrUnsupported, true
	}
	return nil, false
}

// kindOfGocloud is for drivers of which nothing else is known.
func kindOfGocloud(err error) (error, bool) {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return ErrNotExist, true
	case gcerrors.AlreadyExists:
		return ErrExist, true
	case gcerrors.FailedPrecondition:
		return ErrConflict, true
	case gcerrors.InvalidArgument:
		return ErrInvalid, true
	case gcerrors.PermissionDenied:
		return ErrPermission, true
	case gcerrors.ResourceExhausted:
		return ErrUnavailable, true
	case gcerrors.Unimplemented:
		return ErrUnsupported, true
	}
	return nil, false
}

// unreachable reports whether err means that the far side was not reached, or is
// silent.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// errorCode is S3's name for an error, "" if it is none of S3's.
func errorCode(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// noBucket reports whether err says that the bucket itself is missing.
func noBucket(err error) bool {
	return errorCode(err) == "NoSuchBucket" || errors.Is(err, storage.ErrBucketNotExist)
}
