package store

import (
	"context"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// httpFault is an answer of a far side that is not available for now.
type httpFault struct {
	status int
	header http.Header
}

func (f httpFault) Error() string              { return http.StatusText(f.status) }
func (f httpFault) Unwrap() error              { return ErrUnavailable }
func (f httpFault) answer() (int, http.Header) { return f.status, f.header }

// failing opens a store in memory whose requests end as fault says, from 1 on.
func failing(t *testing.T, fault func(n int) error) (s *Store, tries *int) {
	t.Helper()
	tries = new(int)
	s, err := Open(t.Context(), "mem://", &Options{Intercept: func(_ context.Context, _ Request, do func() error) error {
		*tries++
		if err := fault(*tries); err != nil {
			return err
		}
		return do()
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, tries
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		least, most time.Duration
	}{
		{"seconds", "17", 17 * time.Second, 17 * time.Second},
		{"a date", "Sat, 01 Jan 2000 00:00:23 GMT", 23 * time.Second, 23 * time.Second},
		{"a date of the past", "Fri, 31 Dec 1999 00:00:00 GMT", 0, time.Second},
		{"far too long", "86400", maxRetryAfter, maxRetryAfter},
		{"less than nothing", "-5", 0, time.Second},
		{"no number", "soon", 0, time.Second},
		{"not said", "", 0, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // begins at midnight of 1 January 2000
				s, tries := failing(t, func(n int) error {
					if n > 1 {
						return nil
					}
					return httpFault{http.StatusServiceUnavailable, http.Header{"Retry-After": {c.text}}}
				})
				begun := time.Now()
				if err := s.Put(t.Context(), "o", nil); err != nil || *tries != 2 {
					t.Errorf("%d tries, %v", *tries, err)
				}
				if took := time.Since(begun); took < c.least || took > c.most {
					t.Errorf("it waited for %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

// TestRetryBudget spends the retries of one transfer. Requests of its own have no such bound.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := false
		s, tries := failing(t, func(int) error {
			if up {
				return nil
			}
			return ErrUnavailable
		})
		ctx := paced(t.Context(), newPacer(newGate(1)))
		puts := func(ctx context.Context, n int) (made int) {
			before := *tries
			for range n {
				if err := s.Put(ctx, "o", nil); (err == nil) != up {
					t.Fatalf("put: %v", err)
				}
			}
			return *tries - before
		}
		const requests = 2 * retryTokens
		if made := puts(ctx, requests); made != requests+retryTokens {
			t.Errorf("%d tries of %d requests, want %d", made, requests, requests+retryTokens)
		}
		if made, want := puts(t.Context(), 1), s.opts.attempts(); made != want {
			t.Errorf("%d tries outside of the transfer, want %d", made, want)
		}
		up = true
		puts(ctx, 31)
		up = false
		if made := puts(ctx, 10); made != 10+3 {
			t.Errorf("after 31 successes %d tries of 10 requests, want 3 more than those", made)
		}
	})
}

// TestGateFollowsTheFarSide halves the places once for all that were let in together, and gives them back one by one.
func TestGateFollowsTheFarSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8)
		p := newPacer(g)
		enter := func() {
			if err := g.enter(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
		want := func(places int) {
			t.Helper()
			if g.places != places {
				t.Errorf("%d places, want %d", g.places, places)
			}
		}
		for range 8 {
			enter()
		}
		slow := httpFault{status: http.StatusServiceUnavailable}
		for range 8 {
			p.saw(slow)
		}
		want(4)
		waited := make(chan struct{})
		go func() { enter(); close(waited) }()
		for i := range 5 {
			synctest.Wait()
			select {
			case <-waited:
				t.Errorf("one more was let in beside %d", 8-i)
			default:
			}
			g.leave(1)
		}
		<-waited // 3 of the first are still there
		p.saw(slow)
		want(2)
		p.saw(ErrPermission)
		want(2)
		for places := 2; places < 8; places++ {
			for range places {
				want(places)
				p.saw(nil)
			}
		}
		for range 100 {
			p.saw(nil)
		}
		want(8)
	})
}

// TestGateForgetsWhoLeaves ends the wait of one who stands before others.
func TestGateForgetsWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(4)
		ctx, cancel := context.WithCancel(t.Context())
		if err := g.enter(ctx, 2); err != nil {
			t.Fatal(err)
		}
		go func() {
			if err := g.enter(ctx, 4); err == nil {
				t.Error("let in beside another")
			}
		}()
		synctest.Wait()
		let := make(chan struct{})
		go func() {
			if err := g.enter(context.WithoutCancel(ctx), 2); err != nil {
				t.Error(err)
			}
			close(let)
		}()
		synctest.Wait()
		cancel()
		<-let
		if g.taken != 4 {
			t.Errorf("%d places are taken, want 4", g.taken)
		}
	})
}

// TestRateAndETA moves bytes at a pace that changes.
func TestRateAndETA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last Progress
		m := newTransferMeter(func(p Progress) { last = p })
		m.expect(1, 10_000)
		pace := func(rate int64, seconds int) {
			for range 10 * seconds {
				time.Sleep(100 * time.Millisecond)
				m.moved(rate / 10)
			}
		}
		near := func(rate float64) {
			t.Helper()
			if math.Abs(last.Rate-rate) > 0.01*rate {
				t.Errorf("the rate is %v, want %v", last.Rate, rate)
			}
			eta := time.Duration(float64(last.BytesTotal-last.Bytes) / last.Rate * float64(time.Second))
			if last.ETA != eta {
				t.Errorf("the ETA is %v, want %v", last.ETA, eta)
			}
		}
		pace(100, 1)
		near(100)
		m.resumed(1000) // costs no time
		pace(100, 29)
		near(100)
		if last.Bytes != 4000 || last.Resumed != 1000 || last.ETA.Round(time.Second) != time.Minute {
			t.Errorf("%+v, want 4000 bytes, 1000 of them resumed, and a minute to go", last)
		}
		pace(300, 3) // for which the past counts half
		near(200)
		m.restart(4900, 1000)
		pace(100, 30)
		m.moved(7000)
		m.finish()
		if last.Bytes != 10_000 || last.Resumed != 0 || last.ETA != 0 {
			t.Errorf("at the end %+v", last)
		}
	})
}
