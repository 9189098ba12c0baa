package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Result is how a store did in one case.
type Result struct {
	Case    string
	Message string // what the case complained about, a line each; "" if it passed
	Took    time.Duration
}

// caseTimeout ends a case outside of a test that gets nowhere.
const caseTimeout = 2 * time.Minute

// Check tries the cases outside of a test, each on a store of its own from open,
// which must be empty, and yields their results in order. What is not asked for
// is not run. When ctx ends, the case that runs is not reported, nor any other.
func Check(ctx context.Context, open func() *store.Store) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		for _, c := range Cases() {
			result := c.Check(ctx, open())
			if ctx.Err() != nil || !yield(result) {
				return
			}
		}
	}
}

// Check tries one case outside of a test, on an empty store.
func (c Case) Check(ctx context.Context, s *store.Store) Result {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() { // Fatalf ends this goroutine
		defer close(done)
		c.Run(r, s)
	}()
	<-done
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.Errorf("it was not done after %v", caseTimeout)
	}
	return Result{Case: c.Name, Message: r.text(), Took: time.Since(begin)}
}

// recorder is a T outside of a test.
type recorder struct {
	ctx context.Context // of the one case that a recorder is for

	mu    sync.Mutex // guards lines
	lines []string
}

func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Helper()                  {}
func (r *recorder) Logf(string, ...any)      {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}
