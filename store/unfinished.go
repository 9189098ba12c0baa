package store

import (
	"context"
	"iter"
	"strings"
	"time"
)

// Unfinished is a long write that some process began and has neither completed
// nor given up: one on its way, or what a crash left.
type Unfinished struct {
	Key   Key
	Begun time.Time // as the backend tells it

	token string
}

// Unfinished yields the long writes below prefix, which may end within an
// element, in the order of their keys. Nothing of them is visible; they cost
// space until Abort. A transfer with a journal may yet go on with its own. An
// error is the last thing yielded. Where the backend takes no parts there are
// none.
func (s *Store) Unfinished(ctx context.Context, prefix Key) iter.Seq2[Unfinished, error] {
	return func(yield func(Unfinished, error) bool) {
		back, ok := s.back.(parted)
		if !ok {
			return
		}
		list, err := s.uploads(ctx, back, prefix)
		for _, u := range list {
			if !yield(Unfinished{Key: Key(strings.TrimPrefix(u.key, s.prefix)), Begun: u.begun, token: u.token}, nil) {
				return
			}
		}
		if err != nil {
			yield(Unfinished{}, err)
		}
	}
}

// uploads collects them, so that a listing which breaks off is asked for again.
func (s *Store) uploads(ctx context.Context, back parted, prefix Key) (list []upload, err error) {
	_, err = s.do(ctx, Request{Op: "list", Key: string(prefix)}, func(ctx context.Context) error {
		list = nil
		for u, err := range back.unfinished(ctx, s.prefix+string(prefix)) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(u.key, s.prefix+string(prefix)) {
				list = append(list, u)
			}
		}
		return nil
	})
	return list, err
}

// Abort gives up a long write and frees what was sent of it. It is no error if
// it has ended meanwhile.
func (s *Store) Abort(ctx context.Context, u Unfinished) error {
	full, err := s.full(u.Key)
	if err != nil {
		return s.wrap("abort", string(u.Key), err)
	}
	back, ok := s.back.(parted)
	if !ok {
		return nil
	}
	return s.abortUpload(ctx, back, u.Key, full, u.token)
}
