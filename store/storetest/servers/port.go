package servers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

// Ports of servers lie below those that systems hand out by themselves, to a
// connection or to who listens on port 0, so that none is taken by chance.
const (
	firstPort = 12000
	lastPort  = 32000
)

// freePort is a port of the loopback address that nobody listens on, and that no
// other test on this machine is given until this one ends.
func freePort(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "heirloom-test-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(port)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			continue // another user's
		}
		if mine, err := filelock.Try(f); !mine || err != nil || !listens(port) {
			f.Close()
			continue
		}
		t.Cleanup(func() { f.Close() })
		return port
	}
	t.Fatal("no port is free")
	return 0
}

// listens says whether one can listen on a port.
func listens(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
