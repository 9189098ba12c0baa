package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// List yields all objects whose key begins with prefix, which may end within an
// element, in bytewise order: one request for each 1,000. What has no valid key,
// such as the directory marks of some S3 tools, is passed over. An error is the
// last thing yielded. Nothing below prefix is an empty list.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for e, err := range s.entries(ctx, prefix, "", "", nil) {
			if !yield(e.Object, err) {
				return
			}
		}
	}
}

// ListAfter is List for the keys beyond after, which is "" or begins with prefix
// and need not exist. It costs what it yields, unless the store says otherwise:
// see ListsFromStart.
func (s *Store) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for e, err := range s.entries(ctx, prefix, "", after, nil) {
			if !yield(e.Object, err) {
				return
			}
		}
	}
}

// ListsFromStart says that ListAfter makes the requests of List.
func (s *Store) ListsFromStart() bool {
	_, ok := s.back.(sequential)
	return ok
}

// ListForeign yields the names below prefix that are no keys, which List passes
// over: an element may be too long, or a mark of a directory ends in a slash. It
// makes the requests of List. An error is the last thing yielded.
func (s *Store) ListForeign(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		for _, err := range s.entries(ctx, prefix, "", "", func(name string) { names = append(names, name) }) {
			if err != nil {
				yield("", err)
				return
			}
		}
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// ListDir yields the objects and directories right below dir, "" for the root,
// in bytewise order of their keys: one request for each 1,000. An error is the
// last thing yielded.
func (s *Store) ListDir(ctx context.Context, dir Key) iter.Seq2[Entry, error] {
	if dir != "" {
		if _, err := s.full(dir); err != nil {
			return func(yield func(Entry, error) bool) { yield(Entry{}, s.wrap("list", string(dir), err)) }
		}
	}
	return s.entries(ctx, slashed(string(dir)), "/", "", nil)
}

// entries yields a listing, beyond after unless that is "", with keys relative to the
// store. foreign, if not nil, is told of names that are no keys.
func (s *Store) entries(ctx context.Context, prefix, delimiter, after string, foreign func(name string)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if after != "" {
			after = s.prefix + after
		}
		p := s.back.pages(s.prefix+prefix, delimiter, after)
		defer p.stop()
		var last Key
		for more := true; more; {
			page, next, err := s.page(ctx, p, prefix)
			more = next
			if err == nil {
				page, err = s.clean(page, &last, foreign)
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, s.wrap("list", prefix, err))
				return
			}
		}
	}
}

// page fetches one page. A try whose page came, but was reported as failed, has
// moved the pager on and is not repeated.
func (s *Store) page(ctx context.Context, p pager, prefix string) (page []Entry, more bool, err error) {
	came := false
	_, err = s.do(ctx, Request{Op: "list", Key: prefix}, func(ctx context.Context) (err error) {
		if !came {
			page, more, err = p.next(ctx)
			came = err == nil
		}
		return err
	})
	return page, more, err
}

// clean cuts the keys of a page to the store's root and drops what is no key. A
// backend that lists out of order is refused rather than believed: what relies
// on order would silently lose entries. last is the last key seen.
func (s *Store) clean(page []Entry, last *Key, foreign func(name string)) ([]Entry, error) {
	kept := page[:0]
	for _, e := range page {
		name, ok := strings.CutPrefix(string(e.Key), s.prefix)
		if !ok {
			return kept, fmt.Errorf("the listing holds %q, which is outside %q", e.Key, s.prefix)
		}
		if e.IsDir {
			name = strings.TrimSuffix(name, "/")
		}
		e.Key = Key(name)
		if checkKey(name) != nil {
			if foreign != nil {
				foreign(name)
			}
			continue
		}
		at := e.Key
		if e.IsDir {
			at += "/" // "a-b" comes before the directory "a"
		}
		if *last != "" && at <= *last {
			return kept, &Error{Kind: ErrCorrupt, Err: fmt.Errorf("the listing has %q after %q", at, *last)}
		}
		*last = at
		kept = append(kept, e)
	}
	return kept, nil
}

func isNotExist(err error) bool { return errors.Is(err, ErrNotExist) }
