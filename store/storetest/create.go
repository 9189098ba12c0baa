package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/heirloom-ml/heirloom/store"
)

func createCases() []Case {
	return []Case{
		{"create makes what is not there, and nothing else", creates},
		{"of 64 creating at once exactly one wins", createRace},
	}
}

func creates(t T, s *store.Store) {
	ctx := t.Context()
	must(t, s.Create(ctx, "dir/o", []byte("first")), "create")
	wantKind(t, s.Create(ctx, "dir/o", []byte("second")), store.ErrExist, "create what exists")
	wantKind(t, s.Create(ctx, "dir/o", []byte("first")), store.ErrExist, "create the same bytes again")
	wantBody(t, s, "dir/o", "first")
	must(t, s.Create(ctx, "empty", nil), "create an empty object")
	wantKind(t, s.Create(ctx, "empty", nil), store.ErrExist, "create an empty object again")
	put(t, s, "p", "by put")
	wantKind(t, s.Create(ctx, "p", []byte("x")), store.ErrExist, "create what was put")
	wantBody(t, s, "p", "by put")
}

func createRace(t T, s *store.Store) {
	const racers = 64
	for round := range Rounds(200) {
		key := store.Key(fmt.Sprintf("race/%d", round))
		var wins atomic.Int64
		var winner atomic.Value
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range racers {
			body := fmt.Sprintf("racer %d", i)
			wg.Go(func() {
				<-start
				err := s.Create(t.Context(), key, []byte(body))
				if err == nil {
					wins.Add(1)
					winner.Store(body)
				} else if !errors.Is(err, store.ErrExist) {
					t.Errorf("round %d: a loser gets %v, want ErrExist", round, err)
				}
			})
		}
		close(start)
		wg.Wait()
		if wins.Load() != 1 {
			t.Fatalf("round %d: %d of %d won, want 1", round, wins.Load(), racers)
		}
		wantBody(t, s, key, winner.Load().(string))
	}
}

func isConflict(err error) bool { return errors.Is(err, store.ErrConflict) }
