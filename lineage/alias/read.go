package alias

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// readsAtOnce is how many records are read side by side.
const readsAtOnce = 16

// Get returns what a name means: one listing and one read. A name that means nothing, or nothing any more, is
// store.ErrNotExist.
func (s *Set) Get(ctx context.Context, name string) (Alias, error) {
	a, err := s.last(ctx, name)
	if err != nil {
		return Alias{}, err
	}
	switch {
	case a.Number == 0:
		return Alias{}, &store.Error{Op: "find alias", Key: name, Kind: store.ErrNotExist, Err: errors.New("there is no such alias")}
	case a.Removed():
		return Alias{}, &store.Error{Op: "find alias", Key: name, Kind: store.ErrNotExist,
			Err: fmt.Errorf("it was removed on %s", a.Time.Format("2006-01-02"))}
	}
	return a, nil
}

// last is the highest number of a name, removed or not; of a name that was never set it is 0.
func (s *Set) last(ctx context.Context, name string) (Alias, error) {
	if err := CheckName(name); err != nil {
		return Alias{}, err
	}
	var n int64
	for o, err := range s.s.List(ctx, string(s.dir.Join(name))+"/") {
		if err != nil {
			return Alias{}, fmt.Errorf("find alias %s: %w", name, err)
		}
		n = max(n, number(o.Key.Base()))
	}
	if n == 0 {
		return Alias{Name: name}, nil
	}
	return s.read(ctx, name, n)
}

func (s *Set) read(ctx context.Context, name string, n int64) (Alias, error) {
	body, err := s.s.Get(ctx, s.key(name, n))
	if err != nil {
		return Alias{}, fmt.Errorf("find alias %s: %w", name, err)
	}
	return parse(name, n, body)
}

// History returns all that a name ever meant, the latest first: one listing, and one read each. A name that was never
// set is store.ErrNotExist.
func (s *Set) History(ctx context.Context, name string) ([]Alias, error) {
	a, err := s.last(ctx, name)
	if err != nil {
		return nil, err
	}
	if a.Number == 0 {
		return nil, &store.Error{Op: "find alias", Key: name, Kind: store.ErrNotExist, Err: errors.New("there is no such alias")}
	}
	list := []Alias{a}
	for n := a.Number - 1; n > 0; n-- {
		before, err := s.read(ctx, name, n)
		if err != nil {
			return nil, err
		}
		list = append(list, before)
	}
	return list, nil
}

// List returns what every alias means, by name, those left out that were removed: one listing, and one read each.
func (s *Set) List(ctx context.Context) ([]Alias, error) {
	list, err := s.Since(ctx, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, Alias.Removed), nil
}

// Since returns what every alias means, or that it was removed, by name: one listing, and one read for each whose
// number differs from that in known. Those it has not read have a name and a number alone.
func (s *Set) Since(ctx context.Context, known map[string]int64) ([]Alias, error) {
	list := []Alias{}
	for o, err := range s.s.List(ctx, string(s.dir)+"/") {
		if err != nil {
			return nil, fmt.Errorf("list aliases: %w", err)
		}
		name, n := o.Key.Dir().Base(), number(o.Key.Base())
		if n == 0 || o.Key != s.key(name, n) {
			continue // not ours
		}
		if last := len(list) - 1; last >= 0 && list[last].Name == name {
			list[last].Number = n // a listing is sorted, and so has each alias in one piece
		} else {
			list = append(list, Alias{Name: name, Number: n})
		}
	}
	slices.SortFunc(list, func(a, b Alias) int { return strings.Compare(a.Name, b.Name) })
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readsAtOnce)
	for i, a := range list {
		if known[a.Name] == a.Number {
			continue
		}
		group.Go(func() (err error) {
			list[i], err = s.read(ctx, a.Name, a.Number)
			return err
		})
	}
	return list, group.Wait()
}
