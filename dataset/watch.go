package dataset

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// How long to wait between two looks at a lease: at first, and at most.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Waiting is what is known, at one look, about the producer that is waited for.
type Waiting struct {
	Host string
	PID  int
	// Quiet is for how long no new sign of life was seen, on our own clock; once
	// it reaches Lease, another takes over.
	Quiet, Lease time.Duration
}

// watch is what was seen of the lease of a dataset. The clocks of others do not
// count: a lease has run out when its last beat stayed the same for its whole
// duration on our own clock.
type watch struct {
	store       *store.Store
	fingerprint store.Digest
	number      int       // of the highest lease, 0 = none
	beat        string    // its last beat, or "" before the first
	since       time.Time // when that was first seen
	ended       bool      // it was given back
	holder      *Lease    // of number; nil before it was read
}

// look takes notice of the leases that stand now: one listing, and one more
// request for a lease that is new.
func (w *watch) look(ctx context.Context) error {
	number, beat, ended := 0, "", false
	dir := string(leaseDir(w.store.Layout(), w.fingerprint)) + "/"
	for object, err := range w.store.List(ctx, dir) {
		if err != nil {
			return err
		}
		name, suffix, _ := strings.Cut(object.Key.Base(), ".")
		n, err := strconv.Atoi(name)
		if err != nil || n < number {
			continue
		}
		if n > number {
			number, beat, ended = n, "", false
		}
		switch "." + suffix {
		case beatSuffix:
			beat = fmt.Sprint(object.Version, " ", object.Size, " ", object.Modified.UnixNano())
		case endSuffix:
			ended = true
		}
	}
	if number != w.number || beat != w.beat || w.since.IsZero() {
		w.beat, w.since = beat, time.Now()
	}
	if number != w.number {
		w.number, w.holder = number, nil
	}
	w.ended = ended
	return w.meet(ctx)
}

// meet reads who holds the lease, once. A lease that makes no sense is one of
// the usual duration.
func (w *watch) meet(ctx context.Context) error {
	if w.number == 0 || w.ended || w.holder != nil {
		return nil
	}
	holder, err := readLease(ctx, w.store, w.fingerprint, w.number)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotExist) {
		holder, err = &Lease{Number: w.number, LeaseSeconds: defaultLease.Seconds()}, nil
	}
	w.holder = holder
	return err
}

// free tells whether the next lease may be taken.
func (w *watch) free() bool {
	return w.number == 0 || w.ended || time.Since(w.since) >= w.holder.duration()
}

// waiting is what the last look says. The lease is not free.
func (w *watch) waiting() Waiting {
	return Waiting{Host: w.holder.Host, PID: w.holder.PID, Quiet: time.Since(w.since), Lease: w.holder.duration()}
}

// pause waits before look number n, from 0, but not beyond the end of the lease.
func (w *watch) pause(ctx context.Context, n int) error {
	left := w.holder.duration() - time.Since(w.since)
	timer := time.NewTimer(max(min(firstPause<<min(n, 10), lastPause, left), time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
