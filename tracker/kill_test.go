package tracker_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestKill kills writers with SIGKILL at any moment: what they said was kept is
// there, and nothing is half written.
func TestKill(t *testing.T) {
	root := t.TempDir()
	tr := tracker.NewFileTracker(openStore(t, root, nil), nil)
	check(t, tr.AddMetadata(t.Context(), "parent-0", nil))
	seed := uint64(os.Getpid())
	random := rand.New(rand.NewPCG(seed, seed))
	facts := 0
	for round := range storetest.Rounds(1000) {
		run := tracker.RunID(fmt.Sprintf("run-%d", round))
		acknowledged := killed(t, root, run, random.IntN(30))
		facts += len(acknowledged)
		verifyKilled(t, tr, root, run, acknowledged)
		if t.Failed() {
			t.Fatalf("round %d, seed %d", round, seed)
		}
	}
	t.Logf("%d facts acknowledged", facts)
}

// killed lets a process record facts, kills it once it told of some, and returns
// all that it told of.
func killed(t *testing.T, root string, run tracker.RunID, after int) []string {
	t.Helper()
	cmd := helper(t, "record", root, string(run))
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

func verifyKilled(t *testing.T, tr *tracker.FileTracker, root string, id tracker.RunID, acknowledged []string) {
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
	lines := textFiles(t, root, id)
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
func textFiles(t *testing.T, root string, id tracker.RunID) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, id.Encode(), "sources", "*"))
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
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
