package store

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"google.golang.org/api/googleapi"
)

const (
	retryTokens   = 100 // retries that a transfer may make at first
	tokensBack    = 0.1 // of a retry, for each success
	reachedAgain  = 10  // tries to reach a far side that was there before
	maxRetryAfter = time.Minute
)

// pacer holds what the requests of one transfer share: how many go at once, and
// how many may be tried again, so that a far side in trouble is not asked ever
// more. A nil pacer allows all.
type pacer struct {
	gate *gate

	mu      sync.Mutex // guards all below
	tokens  float64
	reached bool // some request has succeeded
}

func newPacer(g *gate) *pacer { return &pacer{gate: g, tokens: retryTokens} }

type pacerKey struct{}

// paced gives the requests made with ctx a common pacer.
func paced(ctx context.Context, p *pacer) context.Context {
	return context.WithValue(ctx, pacerKey{}, p)
}

func pacerOf(ctx context.Context) *pacer {
	p, _ := ctx.Value(pacerKey{}).(*pacer)
	return p
}

// saw takes note of how a request ended.
func (p *pacer) saw(err error) {
	switch {
	case p == nil:
	case err == nil:
		p.gate.succeeded()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.reached = true
		p.tokens = min(p.tokens+tokensBack, retryTokens)
	case throttling(err):
		p.gate.throttled()
	}
}

// again reports whether one more try is allowed, and takes it from the budget.
func (p *pacer) again() bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}

// patience is how often a far side is tried that cannot be reached.
func (p *pacer) patience() int {
	if p == nil {
		return reachAttempts
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reached {
		return reachedAgain
	}
	return reachAttempts
}

// throttling reports whether err asks for fewer requests.
func throttling(err error) bool {
	if throttlingCode(errorCode(err)) {
		return true
	}
	status, _ := response(err)
	return errors.Is(err, ErrUnavailable) && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusForbidden)
}

// retryAfter is how long the far side asks to wait, 0 if it does not say.
func retryAfter(err error) time.Duration {
	_, header := response(err)
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(time.Duration(max(seconds, 0))*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// answered is an error that carries the far side's HTTP answer.
type answered interface {
	error
	answer() (status int, header http.Header)
}

// response is the HTTP answer that err stands for, if there was one.
func response(err error) (status int, header http.Header) {
	if a, ok := errors.AsType[answered](err); ok {
		return a.answer()
	}
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && r.Response != nil && r.Response.Response != nil {
		return r.Response.StatusCode, r.Response.Header
	}
	if api, ok := errors.AsType[*googleapi.Error](err); ok {
		return api.Code, api.Header
	}
	return 0, nil
}
