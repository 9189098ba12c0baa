package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	// maxRounds bounds how often an object is rewritten because others change it.
	maxRounds = 1000
	// maxPatience bounds how long a writer leaves the work to others.
	maxPatience = 5 * time.Second
)

// uniter makes one object, which can only be put whole, hold lines of one
// process, among others who do the same.
//
// A round that others spoil costs much: the object, and a listing of what others
// have to add. So who was defeated is the more patient for it, and first waits
// whether one of the others brings its lines with theirs; those who are not
// defeated have little patience and do the work of all. Patience lasts from call
// to call, and ends where nobody else is seen.
type uniter struct {
	s      *Store
	key    Key
	lines  []string
	others linesFunc
	once   bool // give up where somebody else comes between

	patience time.Duration // how long to wait for others, about
	asked    bool          // what others have to add
	put      bool          // without condition: what others put just before may be gone
	seen     Object        // at the last look, the zero value if it was absent
}

func (u *uniter) run(ctx context.Context) error {
	for range maxRounds {
		done, err := false, error(nil)
		if !u.once {
			done, err = u.leave(ctx)
		}
		if !done && err == nil {
			done, err = u.round(ctx)
		}
		if done || err != nil {
			return u.s.wrap("append", string(u.key), err)
		}
	}
	return u.spoilt(maxRounds)
}

func (u *uniter) spoilt(tries int) error {
	return &Error{Op: "append", Key: string(u.key), Kind: ErrConflict, Err: fmt.Errorf("the object changed under each of %d tries", tries)}
}

// leave gives those who are at it the time to bring our lines too. Where nothing
// changes meanwhile there is nobody.
func (u *uniter) leave(ctx context.Context) (done bool, err error) {
	if u.patience == 0 {
		return false, nil
	}
	changed := false
	for end := time.Now().Add(upTo(u.patience)); time.Now().Before(end); {
		if err := sleep(ctx, min(time.Until(end), upTo(u.s.opts.retryDelay()))); err != nil {
			return false, err
		}
		before := u.seen
		if err := u.look(ctx); err != nil {
			return false, err
		}
		if u.seen == before {
			continue
		}
		changed = true
		body, _, err := u.s.getVersion(ctx, u.key)
		if err != nil && !errors.Is(err, ErrNotExist) {
			return false, err
		}
		if !u.put && len(missing(body, u.lines)) == 0 {
			return true, nil
		}
	}
	if !changed {
		u.patience = 0
	}
	return false, nil
}

// look sees whether the object is another than before.
func (u *uniter) look(ctx context.Context) error {
	obj, err := u.s.Stat(ctx, u.key)
	if errors.Is(err, ErrNotExist) {
		err = nil
	}
	u.seen = obj
	return err
}

// round reads, unites and puts once. Where a put has no condition, it is done
// only if a look afterwards finds all.
func (u *uniter) round(ctx context.Context) (done bool, err error) {
	begun := time.Now()
	body, version, adds, err := u.compare(ctx)
	if err != nil || len(adds) == 0 {
		return err == nil, err
	}
	if u.once && u.put {
		return false, u.spoilt(1)
	}
	conditional := u.s.Capabilities().Replace
	if united := unite(body, adds); conditional {
		err = u.replace(ctx, united, version)
	} else {
		err = u.s.Put(ctx, u.key, united)
	}
	lost := errors.Is(err, ErrConflict) || errors.Is(err, ErrExist)
	switch {
	case lost && u.once:
		return false, u.spoilt(1)
	case lost, u.put: // somebody's put crossed ours
		u.patience = min(max(2*u.patience, time.Since(begun)), maxPatience)
	case len(adds) <= len(u.lines): // nobody else had any
		u.patience /= 2
	}
	if lost {
		return false, nil
	}
	u.put = !conditional
	return conditional, err
}

// replace puts the object if it still has that version, "" if there is none, and notes how it was left.
func (u *uniter) replace(ctx context.Context, body []byte, version string) error {
	full, err := u.s.full(u.key)
	if err != nil {
		return err
	}
	now, err := u.s.writeBody(ctx, "append", u.key, full, body, condition{absent: version == "", version: version})
	switch {
	case errors.Is(err, ErrNotExist) && version != "":
		return u.spoilt(1) // it is gone
	case err == nil && u.others != nil:
		u.s.lines.noteLeft(full, now.Version, u.asked)
	}
	return err
}

// compare returns the object, its version, "" where it is absent, and what it
// lacks.
func (u *uniter) compare(ctx context.Context) (body []byte, version string, adds []string, err error) {
	var more []string
	crowded := u.patience > 0
	if crowded { // first, so that little time passes between the look and the put
		if more, err = u.tell(ctx); err != nil {
			return nil, "", nil, err
		}
	}
	body, version, err = u.s.getVersion(ctx, u.key)
	if errors.Is(err, ErrNotExist) {
		err = nil
	}
	own := missing(body, u.lines)
	if err != nil || len(own) == 0 && !u.put {
		return nil, "", nil, err
	}
	if full, wrong := u.s.full(u.key); !crowded && (wrong != nil || !u.s.lines.isAsLeft(full, version)) {
		more, err = u.tell(ctx)
	}
	return body, version, missing(body, slices.Concat(own, more)), err
}

// tell asks what others have to add.
func (u *uniter) tell(ctx context.Context) ([]string, error) {
	if u.others == nil {
		return nil, nil
	}
	list, err := u.others(ctx)
	if err == nil {
		err = checkLines(list)
	}
	u.asked = err == nil
	return list, err
}

func (s *Store) getVersion(ctx context.Context, key Key) ([]byte, string, error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	return body, r.Object().Version, err
}

// missing returns those of lines, each once, that body lacks.
func missing(body []byte, lines []string) []string {
	have := map[string]bool{}
	if text := strings.TrimSuffix(string(body), "\n"); len(body) > 0 {
		for line := range strings.SplitSeq(text, "\n") {
			have[line] = true
		}
	}
	var list []string
	for _, line := range lines {
		if !have[line] {
			have[line] = true
			list = append(list, line)
		}
	}
	return list
}

// unite adds lines to body.
func unite(body []byte, lines []string) []byte {
	united := bytes.Clone(body)
	for _, line := range lines {
		if len(united) > 0 && united[len(united)-1] != '\n' {
			united = append(united, '\n')
		}
		united = append(append(united, line...), '\n')
	}
	return united
}

// upTo is a random time from half of d to all of it.
func upTo(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
