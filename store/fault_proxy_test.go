package store_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// faultProxy stands between the store and a real server and makes trouble for
// those buckets that are in trouble.
type faultProxy struct {
	target string // host of the server
	url    string
	host   string

	mu       sync.Mutex // guards all below
	troubles map[string]*trouble
	requests map[string]int64 // by bucket
}

// trouble is what happens to the requests of one bucket.
type trouble struct {
	fault fault
	match func(r *http.Request, body []byte) bool
	first func() // called before the first request that is in trouble
	hits  int
}

// fault is one kind of trouble.
type fault struct {
	name   string
	once   bool // only the first request
	silent bool // it is noticed by waiting in vain
	inject func(e *exchange)
	want   error // where it does not end well
}

// exchange is a request in trouble.
type exchange struct {
	t       *faultProxy
	w       http.ResponseWriter
	r       *http.Request
	body    []byte
	isS3    bool
	release <-chan struct{}
}

func startFaultProxy(t *testing.T, server string) *faultProxy {
	t.Helper()
	p := &faultProxy{target: strings.TrimPrefix(server, "http://"), troubles: map[string]*trouble{}, requests: map[string]int64{}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url, p.host = s.URL, s.Listener.Addr().String()
	return p
}

func (p *faultProxy) set(bucket string, t *trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubles[bucket] = t
}

// next is the fault that this request is to meet, if any.
func (p *faultProxy) next(r *http.Request, body []byte) (fault, bool) {
	bucket := bucketOf(r.URL.Path)
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.troubles[bucket]
	if t == nil || !t.match(r, body) {
		return fault{}, false
	}
	t.hits++
	injected := !t.fault.once || t.hits == 1
	if t.hits == 1 && t.first != nil {
		p.mu.Unlock()
		t.first()
		p.mu.Lock()
	}
	return t.fault, injected
}

func (p *faultProxy) arrived(bucket string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[bucket]++
}

func (p *faultProxy) count(bucket string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[bucket]
}

// bucketOf is the bucket that a path of S3, or of one of Google's APIs, names.
func bucketOf(path string) string {
	if _, rest, ok := strings.Cut(path, "/b/"); ok {
		path = rest
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return bucket
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.arrived(bucketOf(r.URL.Path))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	e := &exchange{t: p, w: w, r: r, body: body, isS3: r.Header.Get("X-Amz-Date") != "", release: r.Context().Done()}
	if f, ok := p.next(r, body); ok {
		f.inject(e)
		return
	}
	e.pass()
}

// ask passes the request on and gives the answer with its whole body.
func (e *exchange) ask() (*http.Response, []byte) {
	out := e.r.Clone(e.r.Context())
	out.URL.Scheme, out.URL.Host, out.RequestURI = "http", e.t.target, ""
	if !e.isS3 { // whose signature holds the host, where the emulator goes by its own
		out.Host = e.t.target
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(e.body)), int64(len(e.body))
	response, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return response, body
}

// answer sends the head of an answer and n bytes of its body.
func (e *exchange) answer(response *http.Response, body []byte, n int) {
	for name, values := range response.Header {
		e.w.Header()[name] = values
	}
	if e.r.Method != http.MethodHead {
		e.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	e.w.WriteHeader(response.StatusCode)
	e.w.Write(body[:n])
}

func (e *exchange) pass() {
	response, body := e.ask()
	e.answer(response, body, len(body))
}

// reset closes the connection in a way that the other side sees as broken.
func (e *exchange) reset() {
	c, _, err := e.w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// lose does what was asked for and never says so.
func (e *exchange) lose() {
	e.ask()
	e.reset()
}

// hang says nothing until the client gives up.
func (e *exchange) hang() { <-e.release }

// half sends the first part of the body, then what next does.
func (e *exchange) half(next func()) {
	response, body := e.ask()
	e.answer(response, body, len(body)/2)
	if len(body) > 0 {
		e.w.(http.Flusher).Flush()
		next()
	}
}

// status answers with an error in the server's own form, S3's code or Google's
// reason.
func (e *exchange) status(status int, code, reason string) {
	if e.isS3 {
		s3Error(status, code)(e.w, e.r)
		return
	}
	googleError(status, reason)(e.w, e.r)
}
