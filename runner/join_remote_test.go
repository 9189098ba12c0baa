//go:build unix

package runner

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestRanksOnRemoteStore: where nobody writes in place, each process stores its own
// outputs and logs below the one run.
func TestRanksOnRemoteStore(t *testing.T) {
	server := servers.MinIO(t)
	r := newRanks(t)
	r.url = server.URL("ranks")
	r.start(4, func(rank int) []string {
		environ := slurmRank("8", "0", 4)(rank)
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
			environ = append(environ, name+"="+os.Getenv(name))
		}
		return environ
	}, `echo $HEIRLOOM_REPLICA > $HEIRLOOM_OUTPUT_DIR/r$HEIRLOOM_REPLICA; echo same > $HEIRLOOM_OUTPUT_DIR/same; echo "{\"loss\": 1}" >> $HEIRLOOM_METRICS; echo hello`)
	if codes := r.wait(); !slices.Equal(codes, []int{0, 0, 0, 0}) {
		t.Fatalf("exit codes %v", codes)
	}
	run := r.only()
	var names []string
	for _, a := range run.Artifacts {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	want := []string{"metrics.1.jsonl", "metrics.2.jsonl", "metrics.3.jsonl", "metrics.jsonl", "r0", "r1", "r2", "r3", "same"}
	if run.State != tracker.Succeeded || len(run.Attempts) != 1 || !slices.Equal(names, want) {
		t.Errorf("%s, %d attempts, artifacts %q", run.State, len(run.Attempts), names)
	}
	l := newLauncher(t, r.url, nil)
	for rank := range 4 {
		key := l.Store.Layout().LogsDir(string(run.ID), role, rank, 1).Join("stdout.log")
		if body, err := l.Store.Get(t.Context(), key); string(body) != "hello\n" {
			t.Errorf("log of rank %d: %q, %v", rank, body, err)
		}
	}
	if v, _ := run.Metadata.Get("metrics.loss"); fmt.Sprint(v) != "1" {
		t.Errorf("loss %v", v)
	}
}
