package openlineage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Report counts what was ingested.
type Report struct {
	Events     int // that tell of runs, also those that were known
	Known      int // of these, those that had been ingested before
	WithoutRun int // events of jobs and datasets: they tell of no run, and nothing is recorded of them
	Runs       int // that the events tell of
	Recorded   int // of these, those that this root records by itself, which are left as they are
}

const (
	eventsDir = "heirloom/openlineage" // in the directory of a run: one object an event, named by its digest
	flushAt   = 2000                   // events
	runsAhead = 16
)

// Ingest records events as runs of a tracker's root. Each event is kept, once, beside the records of its run; what they
// add up to, whichever came first, is then written as the run's metadata, artifacts and links. A run that was broken
// off in the middle is completed when any of its events comes again. It is not safe for concurrent use, but several
// processes may ingest at once, the same events too.
type Ingest struct {
	tracker *tracker.FileTracker
	pending map[tracker.RunID][]told
	n       int
	seen    map[tracker.RunID]bool

	mu     sync.Mutex
	report Report // guarded by mu
}

// NewIngest begins with nothing. Call Flush at the end.
func NewIngest(t *tracker.FileTracker) *Ingest {
	return &Ingest{tracker: t, pending: map[tracker.RunID][]told{}, seen: map[tracker.RunID]bool{}}
}

// Add takes one event. What is none is an error of kind store.ErrInvalid, and nothing of it is recorded; any other error
// is of the store. What was added is durable after Flush.
func (g *Ingest) Add(ctx context.Context, body []byte) error {
	clean, err := canonical(body)
	if err != nil {
		return err
	}
	e, err := Parse(clean)
	if errors.Is(err, ErrNoRun) {
		g.report.WithoutRun++
		return nil
	}
	if err != nil {
		return err
	}
	id, err := runOf(e)
	if err != nil {
		return err
	}
	one := told{Event: e, digest: store.DigestOf(clean), body: clean}
	if _, err := fold(id, []told{one}); err != nil {
		return err
	}
	g.report.Events++
	g.pending[id] = append(g.pending[id], one)
	if g.n++; g.n >= flushAt {
		return g.Flush(ctx)
	}
	return nil
}

// Report says what was done so far.
func (g *Ingest) Report() Report { return g.report }

// Flush records what was added.
func (g *Ingest) Flush(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runsAhead)
	for _, id := range slices.Sorted(maps.Keys(g.pending)) {
		events := g.pending[id]
		first := !g.seen[id]
		g.seen[id] = true
		group.Go(func() error {
			if err := g.record(ctx, id, events, first); err != nil {
				return fmt.Errorf("record events of %s: %w", id, err)
			}
			return nil
		})
	}
	g.pending, g.n = map[tracker.RunID][]told{}, 0
	return group.Wait()
}

// record keeps events of a run and brings the run up to date with all that are kept.
func (g *Ingest) record(ctx context.Context, id tracker.RunID, events []told, first bool) error {
	attempts, err := g.tracker.Attempts(ctx, id)
	if err != nil {
		return err
	}
	g.count(func(r *Report) {
		if first {
			r.Runs++
			if len(attempts) > 0 {
				r.Recorded++
			}
		}
	})
	if len(attempts) > 0 {
		return nil // this root's own launcher tells more of it
	}
	for _, e := range events {
		err := g.tracker.Store().Create(ctx, eventKey(id, e.digest), e.body)
		if errors.Is(err, store.ErrExist) {
			g.count(func(r *Report) { r.Known++ })
			continue
		}
		if err != nil {
			return err
		}
	}
	if err := g.settle(ctx, id, events); err != nil {
		return err
	}
	return g.tracker.Announce(ctx, id)
}

func (g *Ingest) count(do func(*Report)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do(&g.report)
}

func eventKey(id tracker.RunID, digest store.Digest) store.Key {
	return store.Key(id.Encode()).Join("heirloom", "openlineage", string(digest))
}

// settle writes what all kept events of a run add up to, and looks again: what another process has kept meanwhile may
// have been added up without this one's.
func (g *Ingest) settle(ctx context.Context, id tracker.RunID, have []told) error {
	known := map[store.Digest]told{}
	for _, e := range have {
		known[e.digest] = e
	}
	done := -1
	for {
		if err := g.read(ctx, id, known); err != nil {
			return err
		}
		if len(known) == done {
			return nil
		}
		done = len(known)
		facts, err := fold(id, slices.Collect(maps.Values(known)))
		if err != nil {
			return err
		}
		if err := g.write(ctx, facts); err != nil {
			return err
		}
	}
}

// read completes the known events of a run by those that are kept.
func (g *Ingest) read(ctx context.Context, id tracker.RunID, known map[store.Digest]told) error {
	s := g.tracker.Store()
	for o, err := range s.List(ctx, id.Encode()+"/"+eventsDir+"/") {
		if err != nil {
			return err
		}
		digest := store.Digest(o.Key.Base())
		if _, ok := known[digest]; ok {
			continue
		}
		body, err := s.Get(ctx, o.Key)
		if err != nil {
			return err
		}
		e, err := Parse(body)
		if err != nil || store.DigestOf(body) != digest {
			return &store.Error{Op: "read event", Key: string(o.Key), Kind: store.ErrCorrupt, Err: cmpErr(err)}
		}
		known[digest] = told{Event: e, digest: digest, body: body}
	}
	return nil
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("it is not what its name says")
	}
	return err
}

// write records what is not recorded yet.
func (g *Ingest) write(ctx context.Context, f *facts) error {
	run, err := g.tracker.Run(ctx, f.id)
	if err != nil {
		return err
	}
	if m := lacking(run.Metadata, f.metadata); m.Len() > 0 {
		if err := g.tracker.AddMetadata(ctx, f.id, m); err != nil {
			return err
		}
	}
	recorded := map[string][]byte{}
	for _, a := range run.Artifacts {
		recorded[a.Name] = spelled(a)
	}
	for _, a := range f.artifacts {
		if bytes.Equal(recorded[a.Name], spelled(a)) {
			continue
		}
		if err := g.tracker.AddArtifact(ctx, f.id, a); err != nil {
			return err
		}
	}
	linked := map[tracker.Source]bool{}
	for _, s := range run.Sources {
		linked[tracker.Source{ID: s.ID, Artifact: s.Artifact}] = true
	}
	for _, s := range f.sources {
		if linked[tracker.Source{ID: s.ID, Artifact: s.Artifact}] {
			continue
		}
		if err := g.tracker.AddSource(ctx, f.id, s); err != nil {
			return err
		}
	}
	return nil
}

// lacking is what of the wanted members is not there, or different.
func lacking(have, want *pyjson.Object) *pyjson.Object {
	m := &pyjson.Object{}
	for key, v := range want.All() {
		known, ok := have.Get(key)
		if !ok || !bytes.Equal(pyjson.Valid(known), pyjson.Valid(v)) {
			m.Set(key, v)
		}
	}
	return m
}

// spelled is an artifact in a form that can be compared.
func spelled(a tracker.Artifact) []byte {
	return pyjson.Valid([]any{a.Name, a.Path, orNull(a.Metadata)})
}
