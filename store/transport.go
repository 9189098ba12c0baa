package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

const (
	dialTimeout  = 3 * time.Second
	tlsTimeout   = 5 * time.Second
	idleConns    = 128
	idleTimeout  = 90 * time.Second
	socketBuffer = 64 << 10 // bytes of a connection, each way
	// answerTimes is how many stall times a server may think once it has it all.
	answerTimes = 2
)

// tuneTransport fits many long requests to one host: connections are kept, and
// there are several, where HTTP/2 would put all on one.
func tuneTransport(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConns, idleConns
	t.IdleConnTimeout = idleTimeout
	t.TLSHandshakeTimeout = tlsTimeout
	t.ResponseHeaderTimeout = 0 // watched goes by what moves
	t.ReadBufferSize, t.WriteBufferSize = socketBuffer, socketBuffer
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
}

// watched makes HTTP requests, breaks off those on which nothing moves, and
// counts those beyond the first that one attempt of Store makes.
type watched struct {
	do    func(*http.Request) (*http.Response, error)
	stall time.Duration
}

func (w *watched) Do(r *http.Request) (*http.Response, error) { return w.RoundTrip(r) }

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(httptrace.WithClientTrace(r.Context(), traced(r.Context())))
	dog := &watchdog{stall: w.stall, bite: cancel}
	dog.timer = time.AfterFunc(w.stall, dog.expire)
	r = r.WithContext(ctx)
	dog.watchSent(r)
	response, err := w.do(r)
	if err != nil {
		dog.stop()
		return nil, dog.cause(err)
	}
	if err := foreign(response); err != nil {
		response.Body.Close()
		dog.stop()
		return nil, err
	}
	dog.answered.Store(true)
	dog.timer.Stop()
	response.Body = &watchedBody{ReadCloser: response.Body, dog: dog}
	return response, nil
}

// watchdog ends a request on which nothing has moved for its time.
type watchdog struct {
	stall    time.Duration
	timer    *time.Timer
	bite     context.CancelFunc
	expired  atomic.Bool
	answered atomic.Bool // what is still sent no longer matters
}

func (d *watchdog) watchSent(r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &watchedBody{ReadCloser: r.Body, dog: d, sending: true}
	again := r.GetBody
	if again == nil {
		return
	}
	r.GetBody = func() (io.ReadCloser, error) {
		body, err := again()
		return &watchedBody{ReadCloser: body, dog: d, sending: true}, err
	}
}

func (d *watchdog) expire() {
	d.expired.Store(true)
	d.bite()
}

func (d *watchdog) stop() {
	d.timer.Stop()
	d.bite()
}

// cause tells a request that was broken off here from one that its caller ended.
func (d *watchdog) cause(err error) error {
	if err != nil && !errors.Is(err, io.EOF) && d.expired.Load() {
		return stallError{d.stall}
	}
	return err
}

// watchedBody is the body of a request or a response. The time in which nobody
// reads a response does not count.
type watchedBody struct {
	io.ReadCloser
	dog     *watchdog
	sending bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.sending {
		return b.send(p)
	}
	b.dog.timer.Reset(b.dog.stall)
	n, err := b.ReadCloser.Read(p)
	b.dog.timer.Stop()
	return n, b.dog.cause(err)
}

func (b *watchedBody) send(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case b.dog.answered.Load():
	case err != nil:
		b.dog.timer.Reset(answerTimes * b.dog.stall)
	default:
		b.dog.timer.Reset(b.dog.stall)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	if !b.sending {
		b.dog.stop()
	}
	return err
}

// stallError is that of a connection on which nothing moved.
type stallError struct{ after time.Duration }

func (e stallError) Error() string { return fmt.Sprintf("nothing has moved for %v", e.after) }
func (e stallError) Timeout() bool { return true }
func (e stallError) Unwrap() error { return ErrUnavailable }

// foreign is an error if a web page answers where the store should: that of a
// captive portal, or of the wrong port. Taken for the store's own, its 404 would
// be absence, and its 200 success.
func foreign(r *http.Response) error {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || r.StatusCode >= 300 && r.StatusCode != http.StatusNotFound {
		return nil
	}
	for name := range r.Header {
		for _, own := range []string{"X-Amz-", "X-Goog-", "X-Guploader-", "Etag"} {
			if strings.HasPrefix(name, own) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: a web page answers (%s, %s), not an object store: the endpoint is wrong, or the network wants a login",
		ErrUnavailable, r.Status, r.Header.Get("Content-Type"))
}

// requestCount is how many HTTP requests one attempt made.
type requestCount struct {
	sent  atomic.Int64
	extra func()
}

type countKey struct{}

// counted makes the requests of ctx after the first call extra.
func counted(ctx context.Context, extra func()) context.Context {
	return context.WithValue(ctx, countKey{}, &requestCount{extra: extra})
}

// traced counts by connections given out, for package http too sends some
// requests again when a kept connection turns out to be broken.
func traced(ctx context.Context) *httptrace.ClientTrace {
	c, ok := ctx.Value(countKey{}).(*requestCount)
	if !ok {
		return &httptrace.ClientTrace{}
	}
	return &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if c.sent.Add(1) > 1 {
			c.extra()
		}
	}}
}
