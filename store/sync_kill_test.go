//go:build unix

package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What the test binary is told when it is to be the process that is killed.
const (
	syncURLVar   = "HEIRLOOM_TEST_SYNC_URL"
	syncDirVar   = "HEIRLOOM_TEST_SYNC_DIR"
	syncStateVar = "HEIRLOOM_TEST_SYNC_STATE"
)

// TestSyncProcess mirrors a directory, one part at a time, and prints the bytes
// of each request that it begins. It is run by TestSyncKilled.
func TestSyncProcess(t *testing.T) {
	url := os.Getenv(syncURLVar)
	if url == "" {
		return // not a process of that test
	}
	s := openWith(t, url, &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		fmt.Printf("\nmoved %d %s\n", r.Bytes, r.Op) // begun, whether it arrives or not
		err := do()
		if errors.Is(err, store.ErrUnavailable) {
			fmt.Printf("\nagain %d\n", r.Bytes) // the server's doing, not a kill's
		}
		return err
	}})
	y, err := s.NewSync(os.Getenv(syncDirVar), mirrored, &store.SyncOptions{StateDir: os.Getenv(syncStateVar), Parallel: 1, PartSize: partBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	if _, err := y.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Print("\nfinished\n")
}

// partBytes is that of a part, the least that S3 takes.
const partBytes = 5 << 20

// killedTree makes a tree of small files and two that go in parts.
func killedTree(t *testing.T) (dir string, size int64) {
	t.Helper()
	dir = t.TempDir()
	long := 16 << 20
	if storetest.Rounds(2) == 2 {
		long = 120 << 20
	}
	random := rand.NewChaCha8([32]byte{7})
	for i, n := range append([]int{long, long + 12345}, make([]int, 12)...) {
		if n == 0 {
			n = 4000 + i*99_000
		}
		body := make([]byte, n)
		random.Read(body)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%02d", i)), body, 0o600); err != nil {
			t.Fatal(err)
		}
		size += int64(n)
	}
	return dir, size
}

// TestSyncKilled kills a mirroring process with -9 again and again. No object is
// ever torn, and what arrived is not sent again, but for the one part or small
// file on its way, or not yet noted, at each kill.
func TestSyncKilled(t *testing.T) {
	server := servers.VersityGW(t)
	dir, size := killedTree(t)
	worst, kills := int64(0), 0
	for series := 0; kills < storetest.Rounds(500); series++ {
		url := server.URL(fmt.Sprint("series-", series))
		k := killed{t: t, url: url, dir: dir, state: t.TempDir(), s: openStore(t, url), seen: map[string]bool{}, whole: map[store.Key]string{}}
		before := kills
		for kills < before+8 && !k.live(1+rand.IntN(24)) {
			kills++
			k.check()
		}
		if !k.finished {
			k.live(-1)
		}
		k.check()
		if !k.finished || len(k.seen) != 14 {
			t.Fatalf("the last process left %d of 14 files", len(k.seen))
		}
		again := k.moved - size
		const manifests = 1 << 20
		if n := int64(kills - before); again > manifests+n*partBytes {
			t.Errorf("%d kills made %d bytes be sent again, want at most a part of %d for each", n, again, partBytes)
		}
		if kills > before {
			worst = max(worst, again/int64(kills-before))
		}
	}
	t.Logf("%d kills of a tree of %d bytes; sent again per kill, in the worst series: %d bytes", kills, size, worst)
}

// killed is one mirror and the processes that work at it, one after the other.
type killed struct {
	t               *testing.T
	url, dir, state string
	s               *store.Store
	seen            map[string]bool      // files that were found whole
	whole           map[store.Key]string // the versions that were read
	moved           int64
	finished        bool
}

// live starts a process and kills it as it begins so many requests, unless it has ended
// before; not at all if requests < 0. It reports whether it finished.
func (k *killed) live(requests int) bool {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSyncProcess$")
	cmd.Env = append(os.Environ(), syncURLVar+"="+k.url, syncDirVar+"="+k.dir, syncStateVar+"="+k.state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var bytes int64
		var op string
		text.WriteString(lines.Text() + "\n")
		if n, _ := fmt.Sscanf(lines.Text(), "moved %d %s", &bytes, &op); n == 2 {
			k.moved += bytes
			if requests--; requests == 0 {
				_ = cmd.Process.Kill()
			}
		}
		if n, _ := fmt.Sscanf(lines.Text(), "again %d", &bytes); n == 1 {
			k.moved -= bytes
		}
		k.finished = k.finished || lines.Text() == "finished"
	}
	if err := cmd.Wait(); err != nil && requests > 0 && !k.finished {
		k.t.Fatalf("the process failed: %v\n%s", err, text.String())
	}
	return k.finished
}

// check reads every object that was not seen yet, and the manifest against them.
func (k *killed) check() {
	k.t.Helper()
	manifest := map[string]string{}
	for obj, err := range k.s.List(k.t.Context(), string(mirrored)+"/") {
		if err != nil {
			k.t.Fatal(err)
		}
		if k.whole[obj.Key] == obj.Version {
			continue
		}
		body, err := k.s.Get(k.t.Context(), obj.Key)
		if err != nil {
			k.t.Fatal(err)
		}
		k.whole[obj.Key] = obj.Version
		path := strings.TrimPrefix(string(obj.Key), string(mirrored)+"/")
		if path == ".heirloom/manifest.json" {
			var m struct {
				Files []struct{ Path, SHA256 string }
			}
			if err := json.Unmarshal(body, &m); err != nil {
				k.t.Errorf("torn manifest: %v", err)
			}
			for _, f := range m.Files {
				manifest[f.Path] = f.SHA256
			}
			continue
		}
		want, err := os.ReadFile(filepath.Join(k.dir, path))
		if err != nil || store.DigestOf(want) != store.DigestOf(body) {
			k.t.Errorf("%s is torn: %d bytes, %v", path, len(body), err)
		}
		k.seen[path] = true
	}
	for path := range manifest {
		if !k.seen[path] {
			k.t.Errorf("the manifest names %s, which is not there", path)
		}
	}
}
