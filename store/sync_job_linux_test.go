package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
)

// busyJob rewrites, appends to, renames and deletes files, and remembers every
// state in which it closed one.
type busyJob struct {
	t      *testing.T
	dir    string
	random *rand.Rand

	mu     sync.Mutex // guards closed
	closed map[store.Digest]bool
	round  int
}

func (j *busyJob) file(n int) string {
	return filepath.Join(j.dir, fmt.Sprintf("d%d", n%3), fmt.Sprintf("f%d", n))
}

// step does one thing to one file, in place and in pieces.
func (j *busyJob) step() error {
	j.round++
	name, other := j.file(j.random.IntN(12)), j.file(j.random.IntN(12))
	body, _ := os.ReadFile(name)
	text := strings.Repeat(fmt.Sprintf("%06d,", j.round), 1+j.random.IntN(3000))
	switch j.random.IntN(10) {
	case 0:
		return absent(os.Remove(name))
	case 1:
		return absent(os.Rename(name, other))
	case 2, 3: // beside it, then renamed
		j.note(text)
		return errors.Join(os.WriteFile(name+".tmp", []byte(text), 0o600), os.Rename(name+".tmp", name))
	case 4, 5, 6:
		j.note(string(body) + text[:7])
		return j.write(name, os.O_APPEND, text[:7])
	default: // of the same length as before, where there was something
		if len(body) > 0 {
			text = strings.Repeat(fmt.Sprintf("%06d,", j.round), len(body)/7)
		}
		j.note(text)
		if len(body) != len(text) {
			return j.write(name, os.O_TRUNC, text)
		}
		return j.write(name, 0, text)
	}
}

// pace tells when the job takes its next step. It works slowly enough that some of
// its twelve files are left alone for longer than the clock of a file system ticks,
// which is from when on a closed one is taken.
func (j *busyJob) pace() <-chan time.Time {
	return time.After(time.Duration(j.random.IntN(20)) * time.Millisecond)
}

func absent(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (j *busyJob) note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed[store.DigestOf([]byte(text))] = true
}

func (j *busyJob) write(name string, flag int, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		return err
	}
	for len(text) > 0 {
		n := min(len(text), 1+j.random.IntN(4096))
		if _, err := f.WriteString(text[:n]); err != nil {
			return errors.Join(err, f.Close())
		}
		text = text[n:]
	}
	return f.Close()
}

// TestSyncOfABusyJob mirrors a directory again and again while a job works in
// it. Every object is, at any moment, what the job had closed, and in the end the
// store is equal to the directory.
func TestSyncOfABusyJob(t *testing.T) {
	m := newMirror(t, openStore(t, t.TempDir()), store.SyncOptions{Delete: true, Stable: 100 * time.Millisecond})
	m.opts.Now = time.Now
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	j := &busyJob{t: t, dir: m.dir, random: rand.New(rand.NewPCG(seed, 1)), closed: map[store.Digest]bool{}}
	for n := range 3 {
		if err := os.MkdirAll(filepath.Dir(j.file(n)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.restart()
	sent, rounds := 0, storetest.Rounds(1000)
	for round := 0; round < rounds || sent < rounds/10 && round < 100*rounds; round++ {
		passed := make(chan struct{})
		var report store.SyncReport
		var passErr error
		go func() {
			defer close(passed)
			report, passErr = m.y.Pass(t.Context())
		}()
		for done := false; !done; {
			if err := j.step(); err != nil {
				t.Error(err)
			}
			<-j.pace()
			select {
			case <-passed:
				done = true
			default:
			}
		}
		if passErr != nil {
			t.Error(passErr)
		}
		sent += report.Uploaded
		m.allClosed(j)
	}
	if sent < rounds/10 {
		t.Errorf("%d files were sent in %d rounds: nothing was tested", sent, rounds)
	}
	if _, err := m.y.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.allClosed(j)
	m.want(treeOf(t, m.dir))
	t.Logf("%d rounds, %d steps, %d files sent while the job ran", rounds, j.round, sent)
}

// allClosed complains of objects that are in no state that the job had closed.
func (m *mirror) allClosed(j *busyJob) {
	m.t.Helper()
	for obj, err := range m.s.List(m.t.Context(), string(mirrored)+"/") {
		if err != nil {
			m.t.Fatal(err)
		}
		body, err := m.s.Get(m.t.Context(), obj.Key)
		if err != nil {
			m.t.Fatal(err)
		}
		if !strings.Contains(string(obj.Key), "/.heirloom/") && !j.closed[store.DigestOf(body)] {
			m.t.Errorf("%s is torn: %.40q… of %d bytes", obj.Key, body, len(body))
		}
	}
}

// treeOf reads the files of a directory but for the notes.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "d*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(body)
	}
	return files
}
