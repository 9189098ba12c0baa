package checkpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// library is a way in which testdata/write.py writes checkpoints, and what it needs.
type library struct {
	mode         string
	format       checkpoint.Format
	requirements []string
}

func libraries() []library {
	plain := []string{"safetensors==0.6.2", "numpy==2.3.4", "h5py==3.15.1"}
	return []library{
		{"safetensors", checkpoint.Safetensors, plain},
		{"sharded", checkpoint.Safetensors, plain},
		{"npz", checkpoint.NumPy, plain},
		{"h5", checkpoint.Keras, plain},
		{"orbax", checkpoint.Orbax, []string{"orbax-checkpoint==0.12.8", "jax==0.10.2", "numpy==2.4.6"}},
	}
}

// TestKilledWriters lets each library write checkpoints into a store that is watched, and kills it at any moment. What
// was ever listed as whole is what the library itself reads back.
func TestKilledWriters(t *testing.T) {
	for _, lib := range libraries() {
		t.Run(lib.mode, func(t *testing.T) {
			python := servers.Python(t, lib.requirements...)
			listed := map[string]string{}
			left := 0
			for round := range max(3, storetest.Rounds(50)) {
				root := filepath.Join(t.TempDir(), "checkpoints")
				check(t, os.Mkdir(root, 0o755))
				s := open(t, filepath.Dir(root))
				stop := startWriter(t, python, lib.mode, root)
				watch(t, stop, s, listed)
				after := find(t, s, "")
				left += len(after) - len(complete(after))
				for _, c := range complete(after) {
					note(t, s, c, listed)
				}
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
			if len(listed) == 0 {
				t.Fatal("nothing was listed")
			}
			readBack(t, python, lib.mode, listed)
			t.Logf("%d whole ones listed, %d broken off", len(listed), left)
		})
	}
}

// writer is a process that writes checkpoints.
type writer struct {
	cmd   *exec.Cmd
	ready chan struct{} // closed when it has loaded what it needs
	steps chan int      // what it told of
	ended chan struct{}
}

// startWriter returns when the writer is about to write: until then there is nothing to watch.
func startWriter(t *testing.T, python, mode, root string) *writer {
	t.Helper()
	w := &writer{cmd: exec.Command(python, "testdata/write.py", mode, root), ready: make(chan struct{}), steps: make(chan int, 10_000), ended: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "OMP_NUM_THREADS=1")
	var complaints strings.Builder
	w.cmd.Stderr = &complaints
	out, err := w.cmd.StdoutPipe()
	check(t, err)
	check(t, w.cmd.Start())
	go func() {
		defer close(w.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == "ready" {
				close(w.ready)
			} else if step, err := strconv.Atoi(lines.Text()); err == nil {
				w.steps <- step
			}
		}
		_ = w.cmd.Wait()
	}()
	t.Cleanup(func() { w.kill(); complain(t, complaints.String()) })
	select {
	case <-w.ready:
	case <-w.ended:
		t.Fatal("the writer ended before it wrote")
	}
	return w
}

func complain(t *testing.T, text string) {
	if t.Failed() {
		t.Logf("the writer said: %s", text)
	}
}

func (w *writer) kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

// watch lists again and again, until it kills the writer at a random moment after its first checkpoints.
func watch(t *testing.T, w *writer, s *store.Store, listed map[string]string) {
	t.Helper()
	enough := 1 + rand.IntN(4)
	more := time.Duration(rand.IntN(30)) * time.Millisecond
	for told := 0; told < enough; {
		for _, c := range complete(find(t, s, "")) {
			note(t, s, c, listed)
		}
		select {
		case <-w.steps:
			told++
		case <-w.ended:
			t.Fatal("the writer ended by itself")
		default:
		}
	}
	for deadline := time.Now().Add(more); time.Now().Before(deadline); {
		for _, c := range complete(find(t, s, "")) {
			note(t, s, c, listed)
		}
	}
	w.kill()
}

// note remembers what was listed as whole; its files must be the same whenever it is.
func note(t *testing.T, s *store.Store, c *checkpoint.Checkpoint, listed map[string]string) {
	t.Helper()
	var files []string
	for _, o := range c.Files {
		files = append(files, fmt.Sprint(o.Key, " ", o.Size))
	}
	path, local := s.LocalPath(c.Path)
	if !local {
		path = s.KeyURL(c.Path)
	}
	now := strings.Join(files, "\n")
	if before, ok := listed[path]; ok && before != now {
		t.Errorf("%s was listed as\n%s\nand then as\n%s", path, before, now)
	}
	listed[path] = now
}

// readBack reads all that was listed with the library.
func readBack(t *testing.T, python, mode string, listed map[string]string) {
	t.Helper()
	var paths []string
	for path := range listed {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	cmd := exec.CommandContext(t.Context(), python, append([]string{"testdata/read.py", mode}, paths...)...)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read back: %v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d answers about %d checkpoints:\n%s", len(lines), len(paths), out)
	}
	for i, line := range lines {
		if line != "ok" {
			t.Errorf("%s was listed: %s", paths[i], line)
		}
	}
}

// TestKilledWritersSynced fills a store on S3 with a Sync while a library writes, kills the writer and breaks off the
// Sync at any moment. What the store ever lists can be fetched and read.
func TestKilledWritersSynced(t *testing.T) {
	for _, lib := range libraries() {
		if lib.mode != "sharded" && lib.mode != "orbax" {
			continue
		}
		t.Run(lib.mode, func(t *testing.T) {
			python := servers.Python(t, lib.requirements...)
			remote := open(t, servers.MinIO(t).URL(""))
			listed := map[string]string{}
			for round := range max(3, storetest.Rounds(50)) {
				root := filepath.Join(t.TempDir(), "checkpoints")
				check(t, os.Mkdir(root, 0o755))
				s := remote.Sub(store.Key(fmt.Sprintf("round-%d", round)))
				w := startWriter(t, python, lib.mode, root)
				ctx, cancel := context.WithCancel(t.Context())
				synced := make(chan error, 1)
				y, err := s.NewSync(filepath.Dir(root), "out", &store.SyncOptions{Every: time.Millisecond, Stable: 10 * time.Millisecond})
				check(t, err)
				go func() { synced <- y.Run(ctx) }()
				watch(t, w, s, listed)
				for until := time.Now().Add(time.Duration(rand.IntN(600)) * time.Millisecond); time.Now().Before(until); {
					for _, c := range complete(find(t, s, "")) {
						note(t, s, c, listed)
					}
				}
				cancel()
				if err := <-synced; err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("sync: %v", err)
				}
				if round == 0 { // of which all is to arrive
					_, err := y.Final(t.Context())
					check(t, err)
				}
				check(t, y.Close())
				for _, c := range complete(find(t, s, "")) {
					note(t, s, c, listed)
				}
			}
			if len(listed) == 0 {
				for _, c := range find(t, remote, "") {
					t.Logf("%s: %s", c.Path, c.Reason)
				}
				t.Fatal("nothing was listed")
			}
			fetched := map[string]string{}
			dir := t.TempDir()
			_, err := remote.DownloadTree(t.Context(), "", dir, nil)
			check(t, err)
			for url := range listed {
				fetched[filepath.Join(dir, strings.TrimPrefix(url, remote.KeyURL("")))] = ""
			}
			readBack(t, python, lib.mode, fetched)
			t.Logf("%d whole ones listed", len(listed))
		})
	}
}
