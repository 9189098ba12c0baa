package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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

// Cases is the table, in the order in which it is run: what moves many bytes comes last.
func Cases() []Case {
	return slices.Concat(readCases(), writeCases(), createCases(), keyCases(), listCases(), lineCases(), otherCases(), durableCases(), streamCases(), transferCases())
}

// Run tries every case in a test of its own, each on a store of its own from
// open, which must be empty. Run does not close it. TT is *testing.T, which
// this package does not import, for users run it too.
func Run[TT interface {
	T
	Run(name string, f func(TT)) bool
}](t TT, open func(TT) *store.Store) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t TT) { c.Run(t, open(t)) })
	}
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
