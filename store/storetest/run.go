package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// T is what a case needs of a testing.T.
type T interface {
	Context() context.Context
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	// Fatalf ends the case; it is called from its own goroutine only.
	Fatalf(format string, args ...any)
}

// Case is one clause of the contract.
type Case struct {
	Name string
	// Run tries it on an empty store.
	Run func(t T, s *store.Store)
}

// Cases is the table, in the order in which it is run.
func Cases() []Case {
	return slices.Concat(readCases(), writeCases(), createCases(), streamCases(), keyCases(), listCases(), lineCases(), otherCases())
}

// Run tries every case, each on a store of its own from open, which must be
// empty. Run does not close it.
func Run(t *testing.T, open func(t *testing.T) *store.Store) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, open(t)) })
	}
}

// Failure is a case that a store did not pass, and what it said.
type Failure struct {
	Case, Message string
}

// caseTimeout ends a case outside of a test that gets nowhere.
const caseTimeout = 2 * time.Minute

// Check tries the cases outside of a test, each on a store of its own from open,
// which must be empty, and yields those that fail, in their order. What is not
// asked for is not run.
func Check(ctx context.Context, open func() *store.Store) iter.Seq[Failure] {
	return func(yield func(Failure) bool) {
		for _, c := range Cases() {
			if text := check(ctx, c, open()); text != "" && !yield(Failure{c.Name, text}) {
				return
			}
		}
	}
}

// check runs one case and gives what it complained about, "" for nothing.
func check(ctx context.Context, c Case, s *store.Store) string {
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() { // Fatalf ends this goroutine
		defer close(done)
		c.Run(r, s)
	}()
	<-done
	return r.text()
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

// Rounds is how often a test repeats what it does full times under load: a
// twentieth, unless HEIRLOOM_STRESS=1 asks for all.
func Rounds(full int) int {
	if os.Getenv("HEIRLOOM_STRESS") == "1" {
		return full
	}
	return max(full/20, 1)
}

// wantKind complains unless err has that kind.
func wantKind(t T, err, kind error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: error is %v, want kind %q", fmt.Sprintf(what, args...), err, kind)
	}
}

// must ends the case on an error.
func must(t T, err error, what string, args ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// put stores text and ends the case if it cannot.
func put(t T, s *store.Store, key store.Key, text string) {
	t.Helper()
	must(t, s.Put(t.Context(), key, []byte(text)), "put %s", key)
}

// wantBody complains unless the object has that text.
func wantBody(t T, s *store.Store, key store.Key, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	if err != nil || string(got) != want {
		t.Errorf("get %s: %.60q (%d bytes), %v, want %.60q (%d bytes)", key, got, len(got), err, want, len(want))
	}
}

// wantAbsent complains unless Get, Stat and List all say that there is nothing.
func wantAbsent(t T, s *store.Store, key store.Key) {
	t.Helper()
	_, err := s.Get(t.Context(), key)
	wantKind(t, err, store.ErrNotExist, "get %s", key)
	_, err = s.Stat(t.Context(), key)
	wantKind(t, err, store.ErrNotExist, "stat %s", key)
	for o, err := range s.List(t.Context(), string(key)) {
		if err != nil || o.Key == key {
			t.Errorf("list %s: yields %q, %v", key, o.Key, err)
		}
	}
}
