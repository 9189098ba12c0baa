package removal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// DefaultGrace is how long a run that was deleted stays.
const DefaultGrace = 7 * 24 * time.Hour

// Outcome is what became of a deletion.
type Outcome string

// The outcomes. Pending is none yet: the run is hidden.
const (
	Pending  Outcome = ""
	Restored Outcome = "restored"
	Purged   Outcome = "purged"
)

// Ledger knows the deletions of the runs of one tracker. It may be used by any number of processes at once.
type Ledger struct {
	s   *store.Store
	t   *tracker.FileTracker
	dir store.Key
	now func() time.Time
}

// NewLedger returns the ledger below the prefix that s stands for, of the runs of t, whose output lies in s. now is the
// clock; nil = time.Now.
func NewLedger(s *store.Store, t *tracker.FileTracker, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{s: s, t: t, dir: s.Layout().Heirloom().Join("deleted"), now: now}
}

// Entry is one deletion of a run.
type Entry struct {
	Run     tracker.RunID
	Number  int       // of the run's deletions, from 1
	Time    time.Time // when it was deleted, by the clock of who did
	User    string    // "" where that is not known
	Reason  string
	Noted   time.Time // when, by the clock that dates the store's objects; zero for one that was just made
	Records int       // objects of the tracker
	Output  int       // objects of the output directory
	Bytes   int64     // of both
	Outcome Outcome
	Decided time.Time // when the outcome was, zero while it is Pending
	By      string    // who decided it
	Done    bool      // the outcome has been carried out

	print string // of what the run was
}

// The elements of a deletion's directory.
const (
	deletedName = "deleted"
	filesName   = "files"
	outcomeName = "outcome"
	doneName    = "done"
)

// deletedRecord, outcomeRecord and doneRecord are bodies of objects.
type deletedRecord struct {
	Run     tracker.RunID `json:"run"`
	Time    time.Time     `json:"time"`
	User    string        `json:"user,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Records int           `json:"records"`
	Output  int           `json:"output"`
	Bytes   int64         `json:"bytes"`
	Print   string        `json:"print"`
}

type outcomeRecord struct {
	Outcome Outcome   `json:"outcome"`
	Time    time.Time `json:"time"`
	User    string    `json:"user,omitempty"`
}

type doneRecord struct {
	Time time.Time `json:"time"`
}

func (l *Ledger) runDir(run tracker.RunID) store.Key { return l.dir.Join(store.EncodeRun(string(run))) }

func (l *Ledger) key(run tracker.RunID, n int, name string) store.Key {
	return l.runDir(run).Join(fmt.Sprintf("%06d", n), name)
}

// create writes a record that nobody else has written; else the error has kind store.ErrExist.
func (l *Ledger) create(ctx context.Context, key store.Key, record any) error {
	body, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return l.s.Create(ctx, key, append(body, '\n'))
}

// load reads a record and says whether there is one.
func (l *Ledger) load(ctx context.Context, key store.Key, record any) (bool, error) {
	body, err := l.s.Get(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		if bad := json.Unmarshal(body, record); bad != nil {
			err = &store.Error{Op: "read deletion", Key: string(key), Kind: store.ErrCorrupt, Err: bad}
		}
	}
	return err == nil, err
}

// place is where an object of the ledger lies.
type place struct {
	dir    store.Key // of the run
	number int
	name   string
}

// locate reads a key; ok is false for what is none of ours.
func (l *Ledger) locate(key store.Key) (p place, ok bool) {
	rest, ok := strings.CutPrefix(string(key), string(l.dir)+"/")
	elements := strings.Split(rest, "/")
	if !ok || len(elements) != 3 {
		return place{}, false
	}
	n, err := strconv.Atoi(elements[1])
	if err != nil || n < 1 || fmt.Sprintf("%06d", n) != elements[1] {
		return place{}, false
	}
	return place{dir: l.dir.Join(elements[0]), number: n, name: elements[2]}, true
}

// decide creates the outcome, or returns the one that was created before.
func (l *Ledger) decide(ctx context.Context, e *Entry, outcome Outcome, user string) error {
	record := outcomeRecord{Outcome: outcome, Time: l.now().UTC(), User: user}
	err := l.create(ctx, l.key(e.Run, e.Number, outcomeName), record)
	if errors.Is(err, store.ErrExist) {
		_, err = l.load(ctx, l.key(e.Run, e.Number, outcomeName), &record)
	}
	if err == nil {
		e.Outcome, e.Decided, e.By = record.Outcome, record.Time, record.User
	}
	return err
}

// finish says that the outcome was carried out.
func (l *Ledger) finish(ctx context.Context, e *Entry) error {
	if err := gone(l.s.Delete(ctx, l.key(e.Run, e.Number, filesName))); err != nil {
		return err
	}
	err := l.create(ctx, l.key(e.Run, e.Number, doneName), doneRecord{Time: l.now().UTC()})
	if err != nil && !errors.Is(err, store.ErrExist) {
		return err
	}
	e.Done = true
	return nil
}

// gone takes an object that is not there for one that was deleted.
func gone(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

func failure(op string, run tracker.RunID, kind error, format string, args ...any) error {
	return &store.Error{Op: op, Key: string(run), Kind: kind, Err: fmt.Errorf(format, args...)}
}
