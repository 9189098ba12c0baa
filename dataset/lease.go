package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// defaultLease is how long a producer may give no sign of life before another
// takes its place.
const defaultLease = time.Minute

// beatsPerLease is how often a producer gives one while a lease lasts: it may
// miss a few.
const beatsPerLease = 4

// farewell is how long a producer that is told to end may take to say so.
const farewell = 10 * time.Second

// Lease is who may produce a dataset. It is created once, under the next number;
// whoever holds the highest number is meant to produce. It saves work and no
// more: what makes a dataset exist is its commit.
type Lease struct {
	Version     int          `json:"version"` // of this format: 1
	Fingerprint store.Digest `json:"fingerprint"`
	Number      int          `json:"number"` // from 1
	Time        time.Time    `json:"time"`
	Host        string       `json:"host"`
	PID         int          `json:"pid"`
	// LeaseSeconds without a new beat, on the clock of who watches, end the lease.
	LeaseSeconds float64 `json:"lease_seconds"`
}

// leaseBeat is a sign of life. No two of one lease are equal.
type leaseBeat struct {
	Version int       `json:"version"`
	Beat    int       `json:"beat"` // counts from 1
	Time    time.Time `json:"time"`
}

// leaseEnd says that a lease was given back.
type leaseEnd struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
}

// leaseDir holds the leases of one dataset: <%06d>, <%06d>.beat and <%06d>.end.
func leaseDir(layout store.Layout, fingerprint store.Digest) store.Key {
	return layout.Heirloom().Join("leases", string(fingerprint))
}

const (
	beatSuffix = ".beat"
	endSuffix  = ".end"
)

func (l *Lease) key(layout store.Layout) store.Key {
	return leaseDir(layout, l.Fingerprint).Join(numbered(l.Number))
}

func numbered(n int) string { return fmt.Sprintf("%06d", n) }

// duration is how long the lease lasts without a beat.
func (l *Lease) duration() time.Duration {
	return time.Duration(l.LeaseSeconds * float64(time.Second))
}

// newLease takes the lease of that number. The error has kind store.ErrExist if
// another has it.
func newLease(ctx context.Context, s *store.Store, fingerprint store.Digest, number int, lasts time.Duration) (*Lease, error) {
	host, _ := os.Hostname() // for people to read; "" if the machine has no name
	l := &Lease{
		Version: formatVersion, Fingerprint: fingerprint, Number: number, Time: time.Now().UTC(),
		Host: host, PID: os.Getpid(), LeaseSeconds: lasts.Seconds(),
	}
	body, err := encode(l)
	if err != nil {
		return nil, err
	}
	return l, s.Create(ctx, l.key(s.Layout()), body)
}

// hold calls f and gives signs of life until it returns, then gives the lease
// back, so that nobody waits for it in vain.
func (l *Lease) hold(ctx context.Context, s *store.Store, f func(ctx context.Context) error) error {
	beating, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { l.beat(beating, s); return nil })
	defer func() {
		stop()
		_ = group.Wait() // which has no error
		l.release(ctx, s)
	}()
	return f(ctx)
}

// beat gives signs of life until ctx ends. One that fails is made up for by the
// next: others may take over meanwhile, which costs work and nothing else.
func (l *Lease) beat(ctx context.Context, s *store.Store) {
	ticker := time.NewTicker(max(l.duration()/beatsPerLease, time.Millisecond))
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		body, err := encode(leaseBeat{Version: formatVersion, Beat: n, Time: time.Now().UTC()})
		if err == nil {
			_ = s.Put(ctx, l.key(s.Layout())+beatSuffix, body)
		}
	}
}

// release is tried once, also where ctx has ended. Without it the others wait
// until the lease has run out.
func (l *Lease) release(ctx context.Context, s *store.Store) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	body, err := encode(leaseEnd{Version: formatVersion, Time: time.Now().UTC()})
	if err == nil {
		_ = s.Create(ctx, l.key(s.Layout())+endSuffix, body)
	}
}

// readLease reads the lease of that number.
func readLease(ctx context.Context, s *store.Store, fingerprint store.Digest, number int) (*Lease, error) {
	l := &Lease{Fingerprint: fingerprint, Number: number}
	key := l.key(s.Layout())
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := decode("read lease", key, body, l); err != nil {
		return nil, err
	}
	if l.Fingerprint != fingerprint || l.Number != number || l.LeaseSeconds <= 0 {
		return nil, failure("read lease", key, store.ErrCorrupt, errors.New("it is that of another dataset or number, or lasts for no time"))
	}
	return l, nil
}
