package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/heirloom-ml/heirloom/store"
)

// explain makes a finding of an error that a request met. what says what was tried: "list", "write".
func explain(what string, err error) Finding {
	if message, advice := cure(err); message != "" {
		return failed(kindOf(err), message, advice)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failed(store.ErrUnavailable, "no answer came in time to the request to "+what, "raise --timeout, or look at the network")
	case errors.Is(err, store.ErrPermission):
		return failed(store.ErrPermission, "may not "+what+": "+cause(err), "ask for the permission, or use other credentials")
	case errors.Is(err, store.ErrNoSpace):
		return failed(store.ErrNoSpace, "there is no space left to "+what, "free some, or use another place")
	case errors.Is(err, store.ErrUnavailable):
		return failed(store.ErrUnavailable, "cannot "+what+": "+cause(err), "look at the server, then try again")
	}
	return failed(kindOf(err), "cannot "+what+": "+cause(err), "")
}

// cure is the sentence for an error whose reason is known, and the way out; "" for any other.
func cure(err error) (message, advice string) {
	for _, explainer := range []func(error) (message, advice string){byCode, byCertificate, byNetwork} {
		if message, advice := explainer(err); message != "" {
			return message, advice
		}
	}
	return "", ""
}

func known(err error) bool {
	message, _ := cure(err)
	return message != ""
}

// cause is an error without the verb and the key that the store puts in front.
func cause(err error) string {
	if e, ok := errors.AsType[*store.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// byCode goes by the codes that S3 servers send, whatever the status.
func byCode(err error) (message, advice string) {
	var api interface {
		error
		ErrorCode() string
	}
	if !errors.As(err, &api) {
		return "", ""
	}
	switch api.ErrorCode() {
	case "RequestTimeTooSkewed":
		return "the clock of this machine is too far from the server's for it to take a request", "set the clock, and keep it right with NTP"
	case "ExpiredToken", "TokenRefreshRequired":
		return "the credentials have expired", "get new ones, as with aws sso login"
	case "InvalidAccessKeyId":
		return "the server does not know this access key", "check AWS_ACCESS_KEY_ID or the profile, and whether the endpoint is the one they are for"
	case "SignatureDoesNotMatch":
		return "the secret key does not belong to the access key", "check AWS_SECRET_ACCESS_KEY or the profile"
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "MovedPermanently", "IllegalLocationConstraintException":
		return "the bucket is in another region than the one asked", "put ?region=… into the URL, or set AWS_REGION"
	case "NoSuchBucket":
		return cause(err), "make the bucket, or correct its name"
	}
	return "", ""
}

func byCertificate(err error) (message, advice string) {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		plain   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an authority that this machine does not know",
			"add the authority to the system's, or name its file in SSL_CERT_FILE"
	case errors.As(err, &host):
		return "the server's certificate is for another name: " + host.Error(), "use the name in the certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate is not valid at this time", "look at its dates, and at the clock of this machine"
	case errors.As(err, &invalid):
		return "the server's certificate is not valid: " + invalid.Error(), "ask those who run the server"
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return "the endpoint speaks plain HTTP where TLS was expected", "write http:// instead of https:// in the endpoint, if the network can be trusted"
	}
	return "", ""
}

func byNetwork(err error) (message, advice string) {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case isDNS:
		return fmt.Sprintf("the name %s cannot be resolved", dns.Name), "check the endpoint in the URL and in AWS_ENDPOINT_URL, and the network's DNS"
	case errors.Is(err, syscall.ECONNREFUSED) && isOp && op.Addr != nil:
		return fmt.Sprintf("nothing listens at %s", op.Addr), "check that the server runs, and the port"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way through the network to the server: " + cause(err), "check the network and the proxy settings"
	case isNet && timeout.Timeout() && !errors.Is(err, context.DeadlineExceeded):
		return "the server does not answer in time: " + cause(err), "check the endpoint, firewalls and proxies"
	case errors.Is(err, syscall.ECONNRESET):
		return "the server ends the connection before it has answered", "check that the endpoint is one for this protocol"
	}
	return "", ""
}
