//go:build unix

package store_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What the test binary is told when it is to be the process that is killed.
const (
	moveURLVar   = "HEIRLOOM_TEST_MOVE_URL"
	moveVerbVar  = "HEIRLOOM_TEST_MOVE_VERB"
	moveFileVar  = "HEIRLOOM_TEST_MOVE_FILE"
	moveNotesVar = "HEIRLOOM_TEST_MOVE_NOTES"
)

const (
	killedPart    = 5 << 20 // bytes
	killedAtOnce  = 4       // parts
	longestSeries = 24      // kills of those who move one file
)

// TestMoveProcess moves one file and prints a line for each part that was begun,
// and for the request after all of them. It is run by TestTransferKilled.
func TestMoveProcess(t *testing.T) {
	url := os.Getenv(moveURLVar)
	if url == "" {
		return // not a process of that test
	}
	var moving atomic.Bool
	s := openWith(t, url, &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		switch {
		case r.Op == "part" || r.Op == "get":
			moving.Store(true)
			fmt.Print("\npart\n")
		case r.Op == "complete" || r.Op == "stat" && moving.Load():
			fmt.Print("\nall\n")
		}
		err := do()
		if (r.Op == "part" || r.Op == "get") && errors.Is(err, store.ErrUnavailable) {
			fmt.Print("\nagain\n")
		}
		return err
	}})
	opts := &store.TransferOptions{JournalDir: os.Getenv(moveNotesVar), PartSize: killedPart, Parallel: killedAtOnce}
	if opts.JournalDir == "" {
		opts = nil // as users have it
	}
	move := s.Download
	if os.Getenv(moveVerbVar) == "up" {
		move = func(ctx context.Context, key store.Key, path string, opts *store.TransferOptions) (store.Transferred, error) {
			return s.Upload(ctx, path, key, opts)
		}
	}
	if _, err := move(t.Context(), "o", os.Getenv(moveFileVar), opts); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\npeak %d\n", peakMemory())
	fmt.Print("\nfinished\n")
}

// mover is a chain of processes that are killed and of one that is not.
type mover struct {
	verb, url, file, notes string
	parts                  int   // begun by all of them
	memory                 int64 // bytes, the most that the last one held
}

// live runs one process, to its end or until it has begun so many parts, and says
// whether it ended by itself. Where it has begun all there are, it is killed every
// other time. With parts below 0 it may live.
func (m *mover) live(t *testing.T, parts int) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMoveProcess$", "-test.v")
	cmd.Env = append(os.Environ(), moveURLVar+"="+m.url, moveVerbVar+"="+m.verb, moveFileVar+"="+m.file, moveNotesVar+"="+m.notes)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	finished, killed, said := false, false, ""
	kill := func(due bool) {
		if due && !killed {
			killed = true
			cmd.Process.Kill()
		}
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "part":
			m.parts++
			parts--
			kill(parts == 0)
		case "again":
			m.parts-- // tried again because of the server, not of a kill
		case "all":
			kill(parts > 0 && rand.IntN(2) == 0)
		case "finished":
			finished = true
		default:
			_, _ = fmt.Sscanf(lines.Text(), "peak %d", &m.memory) // most lines are others
			said += lines.Text() + "\n"
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatalf("it failed by itself: %v\n%s", err, said)
	}
	return finished
}

// TestTransferKilled kills a process that moves a file with -9 again and again.
// Nothing torn is ever seen, the last process ends what the first began, and a
// kill costs at most what was on its way.
func TestTransferKilled(t *testing.T) {
	size := 40 << 20
	if storetest.Rounds(20) == 20 {
		size = 256 << 20
	}
	body := make([]byte, size)
	rand.NewChaCha8([32]byte{3}).Read(body)
	versity, minio := servers.VersityGW(t), servers.MinIO(t)
	for _, c := range []struct {
		name, verb, url string
		kills           int
	}{
		{"up to VersityGW", "up", versity.URL("up"), storetest.Rounds(500)},
		{"down from VersityGW", "down", versity.URL("down"), storetest.Rounds(500)},
		{"up to MinIO", "up", minio.URL("up"), storetest.Rounds(100)},
		{"down from MinIO", "down", minio.URL("down"), storetest.Rounds(100)},
		{"up to a disk", "up", filepath.Join(t.TempDir(), "store"), storetest.Rounds(200)},
		{"down from a disk", "down", filepath.Join(t.TempDir(), "store"), storetest.Rounds(200)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.url)
			for kills := 0; kills < c.kills; {
				kills += killedSeries(t, s, c.verb, c.url, body, min(c.kills-kills, longestSeries))
			}
		})
	}
}

// killedSeries moves the file once, with at most so many kills, and returns their
// number, 1 at least.
func killedSeries(t *testing.T, s *store.Store, verb, url string, body []byte, kills int) int {
	t.Helper()
	m := &mover{verb: verb, url: url, file: filepath.Join(t.TempDir(), "file"), notes: t.TempDir()}
	if verb == "up" {
		if err := errors.Join(os.WriteFile(m.file, body, 0o600), absentIsFine(s.Delete(t.Context(), "o"))); err != nil {
			t.Fatal(err)
		}
	} else if _, err := s.PutFrom(t.Context(), "o", bytes.NewReader(body), int64(len(body))); err != nil {
		t.Fatal(err)
	}
	killed := 0
	for killed < kills && !m.live(t, 1+rand.IntN(6)) {
		killed++
		if got, err := m.result(t, s); err == nil && !bytes.Equal(got, body) {
			t.Fatalf("after kill %d something torn of %d bytes is there", killed, len(got))
		}
	}
	if killed == kills && !m.live(t, -1) {
		t.Fatal("the last process did not finish")
	}
	if got, err := m.result(t, s); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes have arrived, %v, want %d", len(got), err, len(body))
	}
	wanted := (len(body) + killedPart - 1) / killedPart
	if again := m.parts - wanted; again > killed*killedAtOnce {
		t.Errorf("%d parts were moved again after %d kills, want at most %d", again, killed, killed*killedAtOnce)
	}
	if left := unfinished(t, s); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for _, dir := range []string{filepath.Dir(m.file), m.notes} {
		if left, err := filepath.Glob(dir + "/.heirloom*"); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
	return max(killed, 1)
}

// result is what a user sees of the file, nil and an error if nothing.
func (m *mover) result(t *testing.T, s *store.Store) ([]byte, error) {
	if m.verb == "down" {
		return os.ReadFile(m.file)
	}
	return s.Get(t.Context(), "o")
}

func absentIsFine(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

// TestTransferMemory moves a file that is longer than the memory a client may
// take.
func TestTransferMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not tell")
	}
	size, most := int64(256<<20), int64(mostMemory)
	if storetest.Rounds(20) == 20 {
		size = 1 << 30
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
		t.Fatal(err)
	}
	url := servers.VersityGW(t).URL("")
	for _, verb := range []string{"up", "down"} {
		m := &mover{verb: verb, url: url, file: file}
		if !m.live(t, -1) {
			t.Fatalf("%s: it did not finish", verb)
		}
		t.Logf("%s: %d MiB at most for %d MiB", verb, m.memory>>20, size>>20)
		if m.memory > most {
			t.Errorf("%s: it held %d bytes, want at most %d", verb, m.memory, most)
		}
	}
}
