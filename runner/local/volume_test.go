//go:build linux

package local

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// A gibibyte of lines from four replicas, each started twice, read while it is
// written: none is lost, torn or repeated.
func TestLogVolume(t *testing.T) {
	size := 1 << 30 / 20
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		size = 1 << 30
	}
	const line = "%.0f " + "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop"
	each := size / 8 / (len(line) + 2)
	s := newScheduler(t)
	role := shRole("a", 4, fmt.Sprintf(`seq -f "%s" %d; [ $HEIRLOOM_ATTEMPT -gt 1 ]`, line, each))
	role.MaxRetries, role.RetryPolicy = 1, runner.RetryReplica
	h := submitted(t, s, role)
	tail := strings.TrimPrefix(line, "%.0f")
	var seen [4]int
	for l, err := range s.Logs(t.Context(), h, runner.LogQuery{Tail: true}) {
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(seen[l.Replica]%each+1) + tail + "\n"
		if l.Text != want {
			t.Fatalf("replica %d attempt %d after %d lines: got %q, want %q", l.Replica, l.Attempt, seen[l.Replica], l.Text, want)
		}
		seen[l.Replica]++
	}
	if seen != [4]int{2 * each, 2 * each, 2 * each, 2 * each} {
		t.Errorf("got %d lines, want %d of each", seen, 2*each)
	}
	if status := waited(t, s, h); status.State != tracker.Succeeded || status.NumRestarts < 1 {
		t.Errorf("got %+v", status)
	}
}
