package usage

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	report := os.Getenv(Variable)
	if report == "" {
		os.Exit(m.Run())
	}
	if err := Report(context.Background(), os.Args[1:], report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestMeasure(t *testing.T) {
	u, err := Measure(t.Context(), []string{"sh", "-c", "echo $WORD; test -z \"$BENCH_REPORT\""}, append(os.Environ(), "WORD=said"))
	if err != nil || u.Said != "said" || u.Wall <= 0 {
		t.Errorf("%+v, %v", u, err)
	}
	u, err = Measure(t.Context(), []string{"sh", "-c", "echo why; exit 3"}, os.Environ())
	if err == nil || !strings.Contains(err.Error(), "exit status 3: why") || u.Failure == "" {
		t.Errorf("a command that fails: %+v, %v", u, err)
	}
	if _, err := Measure(t.Context(), []string{"no-such-program-here"}, os.Environ()); err == nil {
		t.Error("a command that is not there did not fail")
	}
}
