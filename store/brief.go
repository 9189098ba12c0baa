package store

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"

	"github.com/aws/smithy-go"
	"google.golang.org/api/googleapi"
)

// briefError says of a long chain what a reader wants to know, and keeps it all
// for errors.Is and errors.As.
type briefError struct {
	text string
	error
}

func (e briefError) Error() string { return e.text }
func (e briefError) Unwrap() error { return e.error }

// brief shortens what the cloud SDKs say, which is a paragraph with addresses
// and request ids, to the provider's or the system's own sentence.
func brief(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return briefError{joined(api.ErrorCode(), api.ErrorMessage()), err}
	}
	if api, ok := errors.AsType[*googleapi.Error](err); ok && api.Message != "" {
		return briefError{api.Message, err}
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		return briefError{dial.Error(), err}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return briefError{dns.Error(), err}
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return briefError{request.Err.Error(), err}
	}
	return err
}

func joined(code, message string) string {
	if message == "" || message == code {
		return code
	}
	return code + ": " + message
}

// checkedBody tells a body that failed its checksum from one whose connection
// broke: the SDKs have no type for the first.
type checkedBody struct{ io.ReadCloser }

func (b checkedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || kindOf(err) != nil || isEnded(err) {
		return n, err
	}
	return n, errors.Join(ErrCorrupt, err)
}

func isEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
