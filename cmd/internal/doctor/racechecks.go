package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	connections  = 8
	createRounds = 10
	replaceEach  = 3 // times each connection adds a line
)

const racy = "let one process at a time write here, or use another store: two writers could both believe they won"

// rivals opens independent connections: a server may keep its word within one and break it between two.
func (e *examination) rivals(ctx context.Context, corner string) (list []*store.Store, done func(), err error) {
	var opened []*store.Store
	done = func() {
		for _, s := range opened {
			_ = s.Close() // nothing is under way
		}
	}
	for range connections {
		if e.Connect == nil {
			list = append(list, e.scratch.Sub(corner))
			continue
		}
		s, err := e.Connect(ctx)
		if err != nil {
			done()
			return nil, nil, err
		}
		opened = append(opened, s)
		list = append(list, s.Sub(e.scratch.Prefix.Join(corner)))
	}
	return list, done, nil
}

// createRace has all connections create one object at once, some rounds of it.
func (e *examination) createRace(ctx context.Context) Finding {
	rivals, done, err := e.rivals(ctx, "create")
	if err != nil {
		return explain("connect", err)
	}
	defer done()
	for round := range createRounds {
		key := store.Key(fmt.Sprint(round))
		errs := atOnce(rivals, func(i int, s *store.Store) error { return s.Create(ctx, key, fmt.Appendf(nil, "%d", i)) })
		winner, winners := 0, 0
		for i, err := range errs {
			switch {
			case err == nil:
				winner, winners = i, winners+1
			case errors.Is(err, store.ErrUnsupported):
				return failed(store.ErrUnsupported, "objects cannot be created exclusively here", "use another place: heirloom needs it")
			case !errors.Is(err, store.ErrExist):
				return explain("create an object in a race", err)
			}
		}
		if winners != 1 {
			return failed(store.ErrConflict, fmt.Sprintf("%d of %d connections created the same object", winners, connections), racy)
		}
		if body, err := rivals[0].Get(ctx, key); err != nil {
			return explain("read", err)
		} else if string(body) != fmt.Sprint(winner) {
			return failed(store.ErrConflict, "who created an object finds another's bytes in it", racy)
		}
	}
	return ok(fmt.Sprintf("of %d connections that create one object exactly one wins, %d times", connections, createRounds))
}

// atOnce lets all of them go at the same moment.
func atOnce(rivals []*store.Store, do func(i int, s *store.Store) error) []error {
	errs := make([]error, len(rivals))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, s := range rivals {
		wg.Go(func() {
			<-start
			errs[i] = do(i, s)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// replaceRace has all connections add lines to one object by compare-and-swap.
func (e *examination) replaceRace(ctx context.Context) Finding {
	if !e.Store.Capabilities().Replace {
		return skipped("this kind of store does not offer to replace by comparison")
	}
	rivals, done, err := e.rivals(ctx, "replace")
	if err != nil {
		return explain("connect", err)
	}
	defer done()
	const key = store.Key("lines")
	if err := rivals[0].Put(ctx, key, []byte("begin\n")); err != nil {
		return explain("write", err)
	}
	errs := atOnce(rivals, func(i int, s *store.Store) error {
		for n := range replaceEach {
			if err := swapIn(ctx, s, key, fmt.Sprintf("%d-%d\n", i, n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		return explain("replace an object in a race", err)
	}
	body, err := rivals[0].Get(ctx, key)
	if err != nil {
		return explain("read", err)
	}
	if n := strings.Count(string(body), "\n") - 1; n != connections*replaceEach {
		return failed(store.ErrConflict, fmt.Sprintf("of %d lines that were added by comparison %d are there", connections*replaceEach, n), racy)
	}
	return ok(fmt.Sprintf("%d connections that replace one object by comparison lose nothing", connections))
}

// swapIn adds a line and goes on until it was the one to do so.
func swapIn(ctx context.Context, s *store.Store, key store.Key, line string) error {
	for {
		r, err := s.Open(ctx, key)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		err = s.Replace(ctx, key, append(body, line...), r.Object().Version)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
