package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestS3StreamMemory has a client send 8 streams of 40 MiB at the same time, and
// again, half of them of unknown length.
func TestS3StreamMemory(t *testing.T) {
	if url := os.Getenv(streamsEnv); url != "" {
		sendStreams(t, url)
		return
	}
	wantStreamMemory(t, "TestS3StreamMemory", servers.VersityGW(t).URL("streams"))
}

// wantStreamMemory measures a process that sends streams to that place, as the
// test of that name does when it is told so.
func wantStreamMemory(t *testing.T, test, url string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+test+"$")
	cmd.Env = append(os.Environ(), streamsEnv+"="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, said, _ := strings.Cut(string(out), "\npeak ")
	var peak int64
	if _, err := fmt.Sscan(said, &peak); err != nil {
		t.Fatalf("it does not tell its memory: %v\n%s", err, out)
	}
	t.Logf("8 streams took %d MiB at the most", peak>>20)
	if peak >= mostMemory {
		t.Errorf("8 streams took %d MiB, want less than %d", peak>>20, mostMemory>>20)
	}
}
