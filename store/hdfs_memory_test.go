//go:build linux

package store

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"golang.org/x/sync/errgroup"
)

// streamsEnv tells this test's own binary to be the client whose memory is measured: the URL of a store.
const streamsEnv = "HEIRLOOM_TEST_STREAMS"

// TestHDFSLong writes long objects to one cluster.
func TestHDFSLong(t *testing.T) {
	if url := os.Getenv(streamsEnv); url != "" {
		sendStreams(t, url)
		return
	}
	h := servers.Hadoop(t, nil)
	t.Run("parts", func(t *testing.T) { testHDFSParts(t, h) })
	t.Run("memory", func(t *testing.T) { testHDFSMemory(t, h) })
}

// testHDFSMemory has a client send 8 streams of 40 MiB at the same time, and again.
func testHDFSMemory(t *testing.T, h *servers.HDFS) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestHDFSLong$")
	cmd.Env = append(os.Environ(), streamsEnv+"="+h.URL("streams"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	mib := usage.Maxrss >> 10
	t.Logf("8 streams took %d MiB at the most", mib)
	if mib >= 200 {
		t.Errorf("8 streams took %d MiB, want less than 200", mib)
	}
}

func sendStreams(t *testing.T, url string) {
	s, err := Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		group, ctx := errgroup.WithContext(t.Context())
		for i := range 8 {
			group.Go(func() error { return sendStream(ctx, s, i) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// sendStream sends one of a known length and one of an unknown, in turns.
func sendStream(ctx context.Context, s *Store, i int) error {
	const size = 40 << 20
	known := int64(size)
	if i%2 == 1 {
		known = -1
	}
	body := io.LimitReader(rand.NewChaCha8([32]byte{byte(i)}), size)
	_, err := s.PutFrom(ctx, Key(fmt.Sprint("stream", i)), body, known)
	return err
}
