package tracker_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestKill kills writers with SIGKILL at any moment: what they said was kept is
// there, nothing is half written, and TorchX reads what a repair completes.
func TestKill(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		root := t.TempDir()
		killWriters(t, root, 1000)
		sameInTorchX(t, repaired(t, root), serve(t, "file", object(), "torchx==0.7.0", "fsspec==2026.9.0"), root, 20)
	})
	t.Run("s3", func(t *testing.T) {
		server := servers.VersityGW(t)
		killWriters(t, server.URL("kill"), 100)
		x := serve(t, "s3", fsspecOptions(t, server.URL("")), "torchx==0.7.0", "fsspec==2026.9.0", "s3fs==2026.9.0")
		sameInTorchX(t, repaired(t, server.URL("kill")), x, plain(server.URL("kill")), 20)
	})
}

// killWriters does so full times under load.
func killWriters(t *testing.T, url string, full int) {
	t.Helper()
	s := openStore(t, url, nil)
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.AddMetadata(t.Context(), "parent-0", nil))
	seed := uint64(os.Getpid())
	random := rand.New(rand.NewPCG(seed, seed))
	facts, rounds := 0, storetest.Rounds(full)
	for round := range rounds {
		run := tracker.RunID(fmt.Sprintf("run-%d", round))
		acknowledged := killed(t, url, run, random.IntN(30))
		facts += len(acknowledged)
		verifyKilled(t, tr, run, acknowledged)
		if t.Failed() {
			t.Fatalf("round %d, seed %d", round, seed)
		}
	}
	t.Logf("%d kills, %d facts acknowledged", rounds, facts)
}

// repaired completes what writers left that are dead by now.
func repaired(t *testing.T, url string) *tracker.FileTracker {
	t.Helper()
	tr := tracker.NewFileTracker(openStore(t, url, nil), nil)
	check(t, tr.Init(t.Context(), tracker.InitOptions{}))
	opts := noGrace
	opts.Repair = true
	report, err := tr.Fsck(t.Context(), &opts)
	check(t, err)
	for _, f := range report.Findings {
		if !f.Repaired || !mended[f.Rule] {
			t.Errorf("found %s at %s: %s; %s", f.Rule, f.Key, f.Problem, f.Left)
		}
	}
	t.Logf("%d runs, %d lines were missing", report.Runs, len(report.Findings))
	report, err = tr.Fsck(t.Context(), &noGrace)
	check(t, err)
	if len(report.Findings) > 0 {
		t.Errorf("the repair left %v", report.Findings)
	}
	return tr
}

// killed lets a process record facts, kills it once it told of some, and returns
// all that it told of.
func killed(t *testing.T, url string, run tracker.RunID, after int) []string {
	t.Helper()
	cmd := helper(t, "record", url, string(run))
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	var list []string
	scan := bufio.NewScanner(out)
	for {
		if len(list) == after {
			check(t, cmd.Process.Kill())
		}
		kind, number, ok := told(scan)
		if !ok {
			break
		}
		list = append(list, kind+" "+number)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the writer ended by itself: %v", err)
	}
	return list
}

func verifyKilled(t *testing.T, tr *tracker.FileTracker, id tracker.RunID, acknowledged []string) {
	t.Helper()
	if len(acknowledged) == 0 {
		return
	}
	run, err := tr.Run(t.Context(), id)
	check(t, err)
	if len(run.Warnings) > 0 {
		t.Errorf("bad records: %v", run.Warnings)
	}
	have := map[string]bool{}
	for k := range run.Metadata.All() {
		have["metadata "+k[1:]] = true
	}
	for _, a := range run.Artifacts {
		have["artifact "+a.Name[1:]] = true
	}
	lines := textFiles(t, tr.Store(), id)
	for _, s := range run.Sources {
		have["source "+s.Artifact[1:]] = lines[s.Artifact]
	}
	for _, fact := range acknowledged {
		if !have[fact] {
			t.Errorf("%s is lost", fact)
		}
	}
}

// textFiles collects the lines that TorchX finds about the sources of a run. It
// takes part of a line for a whole one, so there must be none.
func textFiles(t *testing.T, s *store.Store, id tracker.RunID) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	for o, err := range s.List(t.Context(), key(id, "sources")+"/") {
		check(t, err)
		text, err := s.Get(t.Context(), o.Key)
		check(t, err)
		if !strings.HasSuffix(string(text), "\n") {
			t.Errorf("half a line in %q", text)
		}
		for line := range strings.Lines(string(text)) {
			lines[strings.TrimSuffix(line, "\n")] = true
		}
	}
	return lines
}
