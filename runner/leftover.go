package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	scratchStart = "heirloom-run-"
	// scratchNote is the file in scratch that says whose outputs lie there. Its
	// launcher keeps it locked, so that a lock that can be had tells of its death.
	scratchNote = "run"
)

// leftover is scratch with outputs of which not all may be in the store.
type leftover struct {
	Run     tracker.RunID `json:"run"`
	Attempt int           `json:"attempt"`
	Store   string        `json:"store"`             // its URL, with the options of the connection
	URL     string        `json:"url"`               // where the outputs belong
	Replica string        `json:"replica,omitempty"` // of several that share that place
	Open    bool          `json:"open,omitempty"`    // the run is: nobody is to touch it
	scratch string
}

func (l leftover) dir() string { return filepath.Join(l.scratch, "output") }

// sign says in scratch whose it is.
func (r *run) sign() error {
	body, _ := json.Marshal(leftover{Run: r.id, Attempt: r.attempt, Store: r.Store.URL(), URL: r.Store.KeyURL(r.place.key), Replica: r.replicaName(), Open: r.lostAfter != 0}) // holds nothing that could fail
	name := filepath.Join(r.place.scratch, scratchNote)
	if err := os.WriteFile(name, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	r.place.lock, _ = lockNote(name) // without one nobody picks up what we leave
	return nil
}

// pickUp deals with what launchers that were killed, or could not reach the store,
// left on this machine. What the attempt before ours left is stored now, so that
// ours adds to it; of the rest it is said how to store it.
func (r *run) pickUp(ctx context.Context) {
	var others []leftover
	for _, l := range r.leftovers() {
		if l.URL != r.Store.KeyURL(r.place.key) || l.Attempt != r.attempt-1 || l.Replica != r.replicaName() {
			others = append(others, l)
			continue
		}
		if err := r.storeLeft(ctx, l); err != nil {
			r.notices = append(r.notices, fmt.Sprintf("outputs of attempt %d stay in %s, for they cannot be stored: %v", l.Attempt, l.dir(), err))
			continue
		}
		r.notices = append(r.notices, fmt.Sprintf("what attempt %d left in %s was stored", l.Attempt, l.dir()))
	}
	if len(others) == 0 {
		return
	}
	l := others[len(others)-1]
	text := fmt.Sprintf("attempt %d of %s did not store all its outputs; this does, and clears up: heirloom --store %s store sync %s %s && rm -r %s",
		l.Attempt, l.Run, shellWord(store.RedactURL(l.Store)), shellWord(l.dir()), shellWord(store.RedactURL(l.URL)), shellWord(l.scratch))
	if n := len(others) - 1; n > 0 {
		text += fmt.Sprintf(" (%d more like it: %s)", n, filepath.Join(filepath.Dir(l.scratch), scratchStart+"*"))
	}
	r.notices = append(r.notices, text)
}

func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// leftovers finds scratch of ours whose launcher is gone, in the order of names.
func (r *run) leftovers() []leftover {
	temp := r.TempDir
	if temp == "" {
		temp = os.TempDir()
	}
	entries, _ := os.ReadDir(temp) // where we could make our own
	var list []leftover
	for _, entry := range entries {
		scratch := filepath.Join(temp, entry.Name())
		if !strings.HasPrefix(entry.Name(), scratchStart) || scratch == r.place.scratch || !entry.IsDir() {
			continue
		}
		if l, ok := readLeftover(scratch); ok {
			list = append(list, l)
		}
	}
	return list
}

// readLeftover reads the note in scratch, unless its launcher lives or it is
// another user's, who may have written anything.
func readLeftover(scratch string) (leftover, bool) {
	l := leftover{scratch: scratch}
	lock, err := lockNote(filepath.Join(scratch, scratchNote))
	if err != nil {
		return l, false
	}
	defer func() { _ = lock.Close() }()
	err = json.NewDecoder(lock).Decode(&l)
	return l, err == nil && l.Run != "" && l.URL != "" && !l.Open
}

// storeLeft sends what is left, by the notes of the launcher that sent the rest, and
// removes it.
func (r *run) storeLeft(ctx context.Context, l leftover) (err error) {
	if err := process.Mend(l.dir()); err != nil {
		return err
	}
	y, err := r.Store.NewSync(l.dir(), r.place.key, &store.SyncOptions{StateDir: filepath.Join(l.scratch, "sync"), Replica: l.Replica})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.Close()) }()
	report, err := y.Final(ctx)
	if err != nil {
		return err
	}
	for _, file := range report.Skipped {
		if err := r.unstorable(file); err != nil {
			return err
		}
	}
	return os.RemoveAll(l.scratch)
}
