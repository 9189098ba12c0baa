package dataset

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/heirloom-ml/heirloom/store"
)

// What is read ahead is bounded by these: files whose footers are fetched, row
// groups that are being decoded, and about how much memory those take.
const (
	openAhead   = 8
	groupsAhead = 8
	aheadBudget = 4 * aheadBytes
)

// piece is one row group on its way to the reader of batches.
type piece struct {
	key      store.Key
	file     int
	from, to int64        // rows of the group
	reader   *groupReader // nil: Where holds for none of its rows
	release  func()       // gives its share of the budget back
}

func (p *piece) close() {
	if p.reader != nil {
		p.reader.close()
	}
	p.release()
}

// pipeline opens files and starts to decode row groups ahead of whoever takes
// the pieces.
type pipeline struct {
	pieces chan *piece // in order; closed at the end
	cancel context.CancelFunc
	done   sync.WaitGroup
	failed error // set before pieces is closed
}

// opened is a file that is being opened.
type opened struct {
	unit  unit
	ready chan struct{}
	part  *part
	err   error
}

// start reads the rows from..to of the order.
func (s *scan) start(ctx context.Context, from, to int64) *pipeline {
	ctx, cancel := context.WithCancel(ctx)
	p := &pipeline{pieces: make(chan *piece, groupsAhead), cancel: cancel}
	parts := make(chan *opened, openAhead)
	p.done.Go(func() { s.openParts(ctx, from, to, parts, &p.done) })
	p.done.Go(func() {
		defer close(p.pieces)
		p.failed = s.openGroups(ctx, from, to, parts, p.pieces)
	})
	return p
}

// err is why there are no more pieces; nil is the end.
func (p *pipeline) err() error { return p.failed }

// stop ends what runs and waits for it.
func (p *pipeline) stop() {
	p.cancel()
	for piece := range p.pieces {
		piece.close()
	}
	p.done.Wait()
}

// openParts opens the files of the order that hold rows from..to, several at once.
func (s *scan) openParts(ctx context.Context, from, to int64, parts chan<- *opened, running *sync.WaitGroup) {
	defer close(parts)
	for _, u := range s.order.units {
		if u.to <= from || u.from >= to || (s.where != nil && !s.where.possible(s.reader, u.file)) {
			if u.to > from && u.from < to && !send(ctx, parts, &opened{unit: u}) {
				return
			}
			continue
		}
		o := &opened{unit: u, ready: make(chan struct{})}
		if !send(ctx, parts, o) { // first, so that no more than the channel holds are opened
			return
		}
		running.Go(func() {
			defer close(o.ready)
			o.part, o.err = s.reader.part(ctx, u.file)
		})
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// openGroups turns files into pieces.
func (s *scan) openGroups(ctx context.Context, from, to int64, parts <-chan *opened, pieces chan<- *piece) error {
	budget := semaphore.NewWeighted(aheadBudget)
	for o := range parts {
		if o.ready == nil { // no row of the file can match
			piece := &piece{from: max(from-o.unit.from, 0), to: min(to, o.unit.to) - o.unit.from, release: func() {}}
			if !send(ctx, pieces, piece) {
				return ctx.Err()
			}
			continue
		}
		<-o.ready
		if o.err != nil {
			return o.err
		}
		if err := s.openPart(ctx, o, from-o.unit.from, to-o.unit.from, budget, pieces); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// openPart sends the row groups of one unit that hold its rows from..to.
func (s *scan) openPart(ctx context.Context, o *opened, from, to int64, budget *semaphore.Weighted, pieces chan<- *piece) error {
	if !sameFields(s.reader.stored, o.part.schema) {
		return failure("read", o.part.key, store.ErrCorrupt, errOtherColumns(s.reader.stored, o.part.schema))
	}
	at := int64(0)
	for group := range o.part.groups {
		if o.unit.group >= 0 && group != o.unit.group {
			continue
		}
		rows := o.part.groupRows(group)
		first, last := max(from-at, 0), min(to-at, rows)
		at += rows
		if first >= last {
			continue
		}
		p, err := s.openPiece(ctx, o, group, first, last, budget)
		if err != nil {
			return err
		}
		if !send(ctx, pieces, p) {
			p.close()
			return ctx.Err()
		}
	}
	return nil
}

func (s *scan) openPiece(ctx context.Context, o *opened, group int, from, to int64, budget *semaphore.Weighted) (*piece, error) {
	p := &piece{key: o.part.key, file: o.unit.file, from: from, to: to, release: func() {}}
	if s.where != nil {
		needed, err := s.where.mayMatch(o.part, group, o.unit.file, s.reader)
		if err != nil || !needed {
			return p, err
		}
	}
	bytes := o.part.chosenBytes(group, s.columns.stored)
	weight := min(bytes+blockBytes, aheadBudget/2)
	if err := budget.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	p.release = func() { budget.Release(weight) }
	batch := s.opts.BatchRows
	if batch <= 0 {
		batch = min(max(wantedBytes/(bytes/max(1, o.part.groupRows(group))+1), 1), defaultBatchRows)
	}
	var err error
	p.reader, err = o.part.openGroup(ctx, group, s.columns.stored, s.columns.decode, batch, to)
	if err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}
