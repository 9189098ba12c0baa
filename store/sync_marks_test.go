package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// written notes the keys that are put and deleted, in their order.
type written struct {
	mu   sync.Mutex // guards list
	list []string
}

func (w *written) open(t *testing.T) *store.Store {
	return openWith(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		path, below := strings.CutPrefix(r.Key, string(mirrored)+"/")
		if below && (r.Op == "put" || r.Op == "delete") && !strings.HasPrefix(path, ".heirloom") {
			w.mu.Lock()
			w.list = append(w.list, strings.Replace(r.Op, "delete", "-", 1)[:1]+path)
			w.mu.Unlock()
		}
		return do()
	}})
}

func (w *written) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], "p")
	}
	return list
}

// A file by which a framework commits others is sent after all of them.
func TestSyncSendsMarksLast(t *testing.T) {
	for name, c := range map[string]struct{ data, mark string }{
		"torch":      {"step1/__0_0.distcp", "step1/.metadata"},
		"orbax":      {"100/default/d/x", "100/commit_success.txt"},
		"HF index":   {"z-00001-of-00002.safetensors", "a.safetensors.index.json"},
		"HF bin":     {"z.bin", "a.bin.index.json"},
		"HF trainer": {"checkpoint-5/z.bin", "checkpoint-5/trainer_state.json"},
		"DeepSpeed":  {"z/mp_rank_00_model_states.x", "latest"},
		"Megatron":   {"iter_0000012/z", "latest_checkpointed_iteration.txt"},
		"TensorFlow": {"ckpt-2.data-00000-of-00001", "ckpt-2.index"},
		"TF pointer": {"ckpt-2.z", "checkpoint"},
		"Spark":      {"data/part-0", "data/_SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			var w written
			m := newMirror(t, w.open(t), store.SyncOptions{})
			text := map[string]string{"latest": "z\n", "latest_checkpointed_iteration.txt": "12", "checkpoint": `model_checkpoint_path: "ckpt-2"`}[filepath.Base(c.mark)]
			if text == "" {
				text = "{}"
			}
			m.write(c.mark, text)
			m.write(c.data+".tmp", "\x02\x00\x00\x00\x00\x00\x00\x00{}") // not finished
			m.write(filepath.Dir(c.data)+"/other", "o")
			if err := os.Rename(filepath.Join(m.dir, c.data+".tmp"), filepath.Join(m.dir, c.data)); err != nil {
				t.Fatal(err)
			}
			hold, err := os.OpenFile(filepath.Join(m.dir, c.data), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			if busy := m.pass(); len(busy.Waiting) == 2 { // where writers can be seen
				if got := w.take(); slices.Contains(got, c.mark) || slices.Contains(got, c.data) {
					t.Errorf("sent %q while the data were being written", got)
				}
			}
			hold.Close()
			m.now = m.now.Add(time.Hour)
			m.pass()
			m.now = m.now.Add(time.Hour)
			m.pass()
			got := w.take()
			if i, j := slices.Index(got, c.data), slices.Index(got, c.mark); j < 0 || i > j {
				t.Errorf("sent in the order %q", got)
			}
		})
	}
}

// A checkpoint that is written over in place: the old mark never stands beside
// new data.
func TestSyncOfACheckpointInPlace(t *testing.T) {
	var w written
	m := newMirror(t, w.open(t), store.SyncOptions{Parallel: 1})
	m.write("c/__0_0.distcp", "old 0")
	m.write("c/__1_0.distcp", "old 1")
	m.write("c/.metadata", "same")
	m.pass()
	w.take()

	m.write("c/__0_0.distcp", "new 0") // rank 1 is not there yet
	young := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(m.dir, "c/__0_0.distcp"), young, young); err != nil {
		t.Fatal(err)
	}
	if r := m.pass(); r.Uploaded != 0 || !slices.Equal(waiting(r), []string{"c/__0_0.distcp"}) {
		t.Errorf("got %+v", r)
	}
	if got := w.take(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
	m.write("c/__1_0.distcp", "new 1")
	m.write("c/.metadata", "same")
	younger := young.Add(time.Minute)
	if err := os.Chtimes(filepath.Join(m.dir, "c/.metadata"), younger, younger); err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(time.Hour)
	m.pass()
	if got := w.take(); !slices.Equal(got, []string{"-c/.metadata", "c/__0_0.distcp", "c/__1_0.distcp", "c/.metadata"}) {
		t.Errorf("sent in the order %q", got)
	}
	m.want(map[string]string{"c/__0_0.distcp": "new 0", "c/__1_0.distcp": "new 1", "c/.metadata": "same"})

	m.write("c/__1_0.distcp", "torn") // and the job died
	if _, err := m.y.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.take(); !slices.Equal(got, []string{"-c/.metadata", "c/__1_0.distcp", "c/.metadata"}) {
		t.Errorf("sent in the order %q", got)
	}
}

// When time is short the newest complete checkpoint goes first, Final ends before
// the deadline, says what was left, and a later one sends that.
func TestFinalUnderADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		s := openWith(t, "mem://", &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
			if slow && r.Op == "put" && !strings.Contains(r.Key, ".heirloom") {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(4 * time.Second):
				}
			}
			return do()
		}})
		m := newMirror(t, s, store.SyncOptions{Parallel: 1})
		for i, name := range []string{"a-log", "step1/.metadata", "step1/__0_0.distcp", "step2/__0_0.distcp", "step2/.metadata", "step3/__0_0.distcp"} {
			m.write(name, name)
			at := time.Unix(1e9+int64(i), 0)
			if err := os.Chtimes(filepath.Join(m.dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		begun := time.Now()
		r, err := m.y.Final(ctx)
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 15*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if r.Uploaded != 3 || len(r.Waiting) != 3 {
			t.Errorf("got %+v", r)
		}
		slow = false
		m.want(map[string]string{"a-log": "a-log", "step2/__0_0.distcp": "step2/__0_0.distcp", "step2/.metadata": "step2/.metadata"})
		if body, err := s.Get(t.Context(), store.SyncManifest(mirrored, "")); err != nil || strings.Count(string(body), `"path"`) != 3 {
			t.Errorf("the manifest is %s, %v", body, err)
		}
		if r, err := m.y.Final(t.Context()); err != nil || r.Uploaded != 3 || r.Unchanged != 3 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// Run makes a pass at once and one each time the interval has gone by.
func TestSyncRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Every: time.Minute})
		m.opts.Now = nil
		m.restart()
		m.write("a", "a")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.y.Run(ctx) }()
		time.Sleep(150 * time.Second)
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := m.s.Stats().Requests["list"]; got != 3 {
			t.Errorf("%d listings in two and a half minutes", got)
		}
		m.want(map[string]string{"a": "a"})
	})
}

// A file that is written twice within one tick of the clock, and looks the same.
func TestSyncSeesAChangeThatDoesNotShow(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{})
	for i := range 30 {
		text := string(rune('a' + i%26))
		m.write("f", text)
		if _, err := m.y.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.want(map[string]string{"f": text})
	}
	// So that it is read right after its change however slow the machine is.
	m.write("f", "last")
	ahead := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(m.dir, "f"), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	if _, err := m.y.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.want(map[string]string{"f": "last"})
	notes, err := filepath.Glob(filepath.Join(m.dir, ".heirloom-sync", "sent-*"))
	if err != nil || len(notes) != 1 {
		t.Fatal(notes, err)
	}
	// Not every kernel's clock is coarse enough to show it.
	if body, err := os.ReadFile(notes[0]); err != nil || !strings.Contains(string(body), `"young":true`) {
		t.Errorf("a file read right after its change is not to be read again: %s, %v", body, err)
	}
}
