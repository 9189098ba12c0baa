package tracker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	replicasDir = "replicas"
	maxReplica  = 999_999
)

// ReplicaID is one replica of a role in one attempt of a run.
type ReplicaID struct {
	Attempt int    // from 1
	Role    string // as ids of runs are
	Number  int    // from 0 within the role
}

// Replica is what one of several processes that are one attempt recorded of
// itself. The attempt's own record says how all of them ended.
type Replica struct {
	ReplicaID
	Start AttemptStart
	End   *AttemptEnd // nil while it runs, or if it vanished
	Beat  time.Time   // of the last sign of life, zero if there was none
}

// Seen is the last sign of life before the end.
func (r Replica) Seen() time.Time { return r.attempt().Seen() }

// State is where the replica stands at a time; see [Attempt.State].
func (r Replica) State(now time.Time) State { return r.attempt().State(now) }

func (r Replica) attempt() Attempt { return Attempt{Start: r.Start, End: r.End, Beat: r.Beat} }

// StartReplica records that a replica begins. It can be said once: the second time
// is store.ErrExist.
func (t *FileTracker) StartReplica(ctx context.Context, run RunID, id ReplicaID, start AttemptStart) error {
	if start.Time.IsZero() {
		start.Time = t.opts.Now()
	}
	body, err := start.body(t.opts.Writer)
	return t.writeReplica(ctx, "start", run, id, startName, body, err)
}

// EndReplica records how a replica ended. It can be said once: the second time is
// store.ErrExist.
func (t *FileTracker) EndReplica(ctx context.Context, run RunID, id ReplicaID, end AttemptEnd) error {
	if end.Time.IsZero() {
		end.Time = t.opts.Now()
	}
	var body []byte
	err := error(nil)
	if !end.State.Terminal() {
		err = fmt.Errorf("%q is no state to end in: %w", end.State, store.ErrInvalid)
	} else {
		body, err = end.body()
	}
	return t.writeReplica(ctx, "end", run, id, endName, body, err)
}

// BeatReplica records that a replica is alive now; see [FileTracker.Beat].
func (t *FileTracker) BeatReplica(ctx context.Context, run RunID, id ReplicaID) error {
	body, err := pyjson.Marshal(pyjson.NewObject(pyjson.Member{Key: "time", Value: formatTime(t.opts.Now())}))
	return t.writeReplica(ctx, "beat", run, id, beatName, body, err)
}

func (t *FileTracker) writeReplica(ctx context.Context, verb string, run RunID, id ReplicaID, name string, body []byte, err error) error {
	if err == nil {
		err = id.check()
	}
	if err == nil {
		err = t.mayWrite(ctx, run)
	}
	if err == nil {
		write := t.s.Create
		if name == beatName {
			write = t.s.Put
		}
		err = write(ctx, id.key(run).Join(name), body)
	}
	if err != nil {
		return fmt.Errorf("%s replica %d of %s, attempt %d of %s: %w", verb, id.Number, printable(id.Role), id.Attempt, printable(string(run)), err)
	}
	return nil
}

func (id ReplicaID) check() error {
	if err := checkAttempt(id.Attempt); err != nil {
		return err
	}
	if id.Number < 0 || id.Number > maxReplica {
		return fmt.Errorf("replicas are numbered from 0 to %d: %w", maxReplica, store.ErrInvalid)
	}
	_, err := ParseRunID(id.Role)
	return err
}

func (id ReplicaID) key(run RunID) store.Key {
	return replicasKey(run, id.Attempt).Join(RunID(id.Role).Encode(), fmt.Sprintf("%06d", id.Number))
}

func replicasKey(run RunID, attempt int) store.Key {
	return attemptKey(run, attempt, replicasDir)
}

// Replicas lists what the replicas of an attempt recorded, by role and number. An
// attempt of one process has none. Records that cannot be read are passed over.
func (t *FileTracker) Replicas(ctx context.Context, run RunID, attempt int) ([]Replica, error) {
	if err := t.mayRead(ctx, run); err != nil {
		return nil, readError(run, err)
	}
	var keys []store.Key
	for o, err := range t.s.List(ctx, string(replicasKey(run, attempt))+"/") {
		if err != nil {
			return nil, readError(run, err)
		}
		keys = append(keys, o.Key)
	}
	b, err := t.read(ctx, keys)
	if err != nil {
		return nil, readError(run, err)
	}
	found := map[ReplicaID]*Replica{}
	for _, key := range keys {
		if id, ok := replicaOf(key, attempt); ok {
			if found[id] == nil {
				found[id] = &Replica{ReplicaID: id}
			}
			_ = found[id].read(key.Base(), b[key]) // then that part of it is not known
		}
	}
	list := make([]Replica, 0, len(found))
	for _, r := range found {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Number, b.Number))
	})
	return list, nil
}

// replicaOf reads the key of a record.
func replicaOf(key store.Key, attempt int) (ReplicaID, bool) {
	elems := strings.Split(string(key), "/")
	if len(elems) < 3 {
		return ReplicaID{}, false
	}
	role, err := DecodeRunID(elems[len(elems)-3])
	n, err2 := strconv.Atoi(elems[len(elems)-2])
	id := ReplicaID{attempt, string(role), n}
	return id, errors.Join(err, err2) == nil && id.check() == nil
}

func (r *Replica) read(name string, b body) error {
	if b.err != nil {
		return b.err
	}
	switch name {
	case startName:
		return r.Start.read(b.data)
	case endName:
		r.End = &AttemptEnd{}
		return r.End.read(b.data)
	case beatName:
		o, err := pyjson.UnmarshalObject(b.data)
		if err == nil {
			r.Beat = parseTime(o.Text("time"))
		}
		return err
	}
	return nil
}
