package store

import (
	"context"
	"iter"
	"strings"
)

// DirHolding is a directory, and whether it holds what was asked for.
type DirHolding struct {
	Key   Key
	Holds bool
}

// Holding is what a directory may hold: an object at, or below, one of the keys Any,
// and nothing at or below one of None. They are relative to the directory.
type Holding struct {
	Any, None []Key
}

// ListDirsHolding yields the directories right below dir, "" for the root, in
// bytewise order of their keys, each with whether it holds what is asked for. On a local disk it is one
// request, in which each directory is looked at; else one request for each 1,000
// objects below dir, and a directory without objects is none. An error is the last
// thing yielded, of kind ErrInvalid for a dir that is no key.
func (s *Store) ListDirsHolding(ctx context.Context, dir Key, what Holding) iter.Seq2[DirHolding, error] {
	if dir != "" {
		if _, err := s.full(dir); err != nil {
			return func(yield func(DirHolding, error) bool) { yield(DirHolding{}, s.wrap("list", string(dir), err)) }
		}
	}
	if l, ok := s.back.(holdingLister); ok {
		return s.lookInto(ctx, l, dir, what)
	}
	prefix := slashed(string(dir))
	return func(yield func(DirHolding, error) bool) {
		var d DirHolding // "" before the first
		spoilt := false  // it holds one of None
		done := func() bool {
			d.Holds = d.Holds && !spoilt
			return d.Key == "" || yield(d, nil)
		}
		for o, err := range s.List(ctx, prefix) {
			if err != nil {
				yield(DirHolding{}, err)
				return
			}
			elem, rest, nested := strings.Cut(string(o.Key[len(prefix):]), "/")
			if !nested {
				continue
			}
			if key := Key(prefix + elem); key != d.Key {
				if !done() {
					return
				}
				d, spoilt = DirHolding{Key: key}, false
			}
			d.Holds = d.Holds || holdsOneOf(rest, what.Any)
			spoilt = spoilt || holdsOneOf(rest, what.None)
		}
		done()
	}
}

// holdsOneOf says whether an object is at, or below, one of keys.
func holdsOneOf(object string, keys []Key) bool {
	for _, key := range keys {
		if rest, ok := strings.CutPrefix(object, string(key)); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// lookInto asks a backend that knows a shorter way.
func (s *Store) lookInto(ctx context.Context, l holdingLister, dir Key, what Holding) iter.Seq2[DirHolding, error] {
	return func(yield func(DirHolding, error) bool) {
		var list []DirHolding
		_, err := s.do(ctx, Request{Op: "list", Key: slashed(string(dir))}, func(ctx context.Context) (err error) {
			list, err = l.dirsHolding(ctx, s.prefix+slashed(string(dir)), what)
			return err
		})
		for _, d := range list {
			d.Key = d.Key[len(s.prefix):]
			if err != nil || checkKey(string(d.Key)) == nil && !yield(d, nil) {
				break
			}
		}
		if err != nil {
			yield(DirHolding{}, s.renamed("list", err))
		}
	}
}
