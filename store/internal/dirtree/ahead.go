package dirtree

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heirloom-ml/heirloom/store/internal/paging"
)

const (
	aheadMin   = 16  // directories in one directory, from which on several are read at a time
	aheadPiece = 32  // names that one goroutine takes up
	aheadBatch = 512 // objects that it hands over at a time
	aheadRoom  = 4   // pieces for each goroutine that may be read before their turn
)

// WalkAhead is WalkAfter, with up to workers directories being read at a time where there are many side by side. ReadFunc is
// called from several goroutines then. Memory is bounded as Walk's is, but for some objects that wait for their turn.
func (read ReadFunc) WalkAhead(ctx context.Context, prefix, after string, workers int) iter.Seq2[Object, error] {
	return read.walk(ctx, &paging.Cursor{Prefix: prefix, After: after}, workers)
}

// found is part of what lies in a piece of a directory.
type found struct {
	objects []Object
	err     error // the last of the piece
}

// ahead is a directory whose pieces are read side by side and yielded in order.
type ahead struct {
	*walker
	ctx    context.Context // ends with the listing, or when nobody wants the rest
	dir    string
	pieces [][]Name
	outs   []chan found  // of each piece
	next   atomic.Int64  // piece to be taken up
	room   chan struct{} // holds a token for each piece that was taken up and not yet yielded
}

// walkAhead yields what is behind the names in dir; false ends the listing.
func (w *walker) walkAhead(dir string, names []Name) bool {
	ctx, cancel := context.WithCancel(w.ctx)
	a := &ahead{walker: w, ctx: ctx, dir: dir, room: make(chan struct{}, w.workers*aheadRoom)}
	for piece := range slices.Chunk(names, aheadPiece) {
		a.pieces, a.outs = append(a.pieces, piece), append(a.outs, make(chan found, 1))
	}
	var group sync.WaitGroup
	for range w.workers {
		group.Go(a.work)
	}
	defer group.Wait()
	defer cancel()
	for _, out := range a.outs {
		if !a.pass(out) {
			return false
		}
		<-a.room
	}
	return true
}

// pass yields one piece.
func (a *ahead) pass(out chan found) bool {
	for {
		select {
		case some, more := <-out:
			if !more {
				return a.whole()
			}
			for _, o := range some.objects {
				if !a.yield(o, nil) {
					return false
				}
			}
			if some.err != nil {
				a.yield(Object{}, some.err)
				return false
			}
		case <-a.walker.ctx.Done():
			return a.whole()
		}
	}
}

// whole says whether the listing was not broken off.
func (a *ahead) whole() bool {
	err := a.walker.ctx.Err()
	if err != nil {
		a.yield(Object{}, err)
	}
	return err == nil
}

// work reads one piece after the other.
func (a *ahead) work() {
	for {
		select {
		case a.room <- struct{}{}:
		case <-a.ctx.Done():
			return
		}
		i := a.next.Add(1) - 1
		if i >= int64(len(a.pieces)) {
			return
		}
		a.gather(a.pieces[i], a.outs[i])
	}
}

// gather sends what is behind the names of a piece.
func (a *ahead) gather(names []Name, out chan<- found) {
	defer close(out)
	var some found
	send := func() bool {
		select {
		case out <- some:
			some = found{}
			return true
		case <-a.ctx.Done():
			return false
		}
	}
	one := &walker{ctx: a.ctx, read: a.read, cursor: a.cursor, yield: func(o Object, err error) bool {
		if err != nil {
			some.err = err
			return false
		}
		some.objects = append(some.objects, o)
		return len(some.objects) < aheadBatch || send()
	}}
	if one.each(a.dir, names) || some.err != nil {
		send()
	}
}
