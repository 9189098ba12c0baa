package store_test

import (
	"os"
	"os/exec"
	"syscall"
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
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("8 streams took %d KiB at the most", usage.Maxrss)
	if usage.Maxrss<<10 >= mostMemory {
		t.Errorf("8 streams took %d KiB, want less than %d", usage.Maxrss, mostMemory>>10)
	}
}
