package store

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// explained adds what a user can do about an error, where that is known.
func explained(err error) error {
	short := brief(err)
	if advice := advise(err); advice != "" {
		return briefError{short.Error() + ": " + advice, err}
	}
	return short
}

// advise is what can be done about err, "" if that is not known.
func advise(err error) string {
	if expired(err) {
		return "the credentials have expired; renew them (aws sso login, a new AWS_SESSION_TOKEN, or the role) and try again"
	}
	if api, ok := errors.AsType[*googleapi.Error](err); ok && api.Code == http.StatusUnauthorized {
		return renewGoogle
	}
	if _, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return renewGoogle
	}
	if errorCode(err) == "RequestTimeTooSkewed" {
		return skew(err, time.Now())
	}
	if region := bucketRegion(err); region != "" {
		return fmt.Sprintf("the bucket lies in the region %s; say so with ?region=%s in the URL or AWS_REGION", region, region)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "the server there speaks http; write http:// instead of https:// in its address (?endpoint= or AWS_ENDPOINT_URL)"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "AWS_CA_BUNDLE or SSL_CERT_FILE name authorities of one's own"
	}
	return ""
}

const renewGoogle = "the credentials are not or no longer valid; renew them (gcloud auth application-default login, or the service account's key)"

// expired reports whether S3 says that credentials were good once.
func expired(err error) bool {
	return slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidToken", "TokenRefreshRequired"}, errorCode(err))
}

// skew says how far the clock is off by the time that the answer bears.
func skew(err error, now time.Time) string {
	_, header := response(err)
	there, parseErr := http.ParseTime(header.Get("Date"))
	if parseErr != nil {
		return "the clock of this machine is wrong"
	}
	off := now.Sub(there).Round(time.Minute)
	if off < 0 {
		return fmt.Sprintf("the clock of this machine is %v behind the server's", -off)
	}
	return fmt.Sprintf("the clock of this machine is %v ahead of the server's", off)
}

var expectedRegion = pattern.Lazy(`expecting '([a-z0-9-]+)'`)

// bucketRegion is where S3 says the bucket lies, "" if that was not the trouble.
func bucketRegion(err error) string {
	status, header := response(err)
	if status != http.StatusMovedPermanently && status != http.StatusBadRequest {
		return ""
	}
	if region := header.Get("X-Amz-Bucket-Region"); region != "" {
		return region
	}
	// Other servers say it in the message alone.
	if found := expectedRegion().FindStringSubmatch(brief(err).Error()); found != nil {
		return found[1]
	}
	return ""
}
