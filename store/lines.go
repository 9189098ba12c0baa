package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// linesFunc tells the lines that an object must hold.
type linesFunc func(context.Context) ([]string, error)

// AddLines makes the text object hold every line that lines returns, "" among
// them, and keeps those that are there; an unended last line is ended first.
// lines is called again on every try, so that it may list what is true by then.
// If it returns nothing, nothing is written.
//
// Writers of one process to one object are served together. Where
// Capabilities().Append, a lock is taken and the lines are appended; else
// the object is read, united and put on condition that it did not change; where
// there is no Replace either, it is put without, until lines has nothing new. That
// last way wants lines to tell what others added too, from what they recorded
// elsewhere before, or a line of theirs can be lost.
func (s *Store) AddLines(ctx context.Context, key Key, lines func(context.Context) ([]string, error)) error {
	full, err := s.full(key)
	if err != nil {
		return s.wrap("append", string(key), err)
	}
	checked := func(ctx context.Context) ([]string, error) {
		list, err := lines(ctx)
		if err == nil {
			err = checkLines(list)
		}
		return list, s.wrap("append", string(key), err)
	}
	err = s.lines.add(ctx, full, checked, func(ctx context.Context, lines linesFunc) error {
		return s.addLines(ctx, key, full, lines)
	})
	return s.wrap("append", string(key), s.renamed("append", err))
}

// addLines does it by the means of the backend.
func (s *Store) addLines(ctx context.Context, key Key, full string, lines linesFunc) error {
	a, ok := s.back.(appender)
	if !ok || !s.Capabilities().Append {
		return s.uniteLines(ctx, key, lines)
	}
	_, err := s.do(ctx, Request{Op: "append", Key: string(key)}, func(ctx context.Context) error {
		return a.appendLines(ctx, full, lines)
	})
	return err
}

// maxRounds bounds how often an object is rewritten because others change it.
const maxRounds = 1000

// uniteLines rewrites the object until it holds all lines.
func (s *Store) uniteLines(ctx context.Context, key Key, lines linesFunc) error {
	for try := 1; try <= maxRounds; try++ {
		more, err := s.uniteOnce(ctx, key, lines)
		lost := errors.Is(err, ErrConflict) || errors.Is(err, ErrExist)
		if err != nil && !lost || err == nil && !more {
			return err
		}
		if lost {
			err = s.pause(ctx, min(try, 4), nil)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return s.wrap("append", string(key), err)
		}
	}
	return &Error{Op: "append", Key: string(key), Kind: ErrConflict, Err: fmt.Errorf("the object changed under each of %d tries", maxRounds)}
}

// uniteOnce is one round of read, unite and put. more asks for another, to see
// whether a put without condition held.
func (s *Store) uniteOnce(ctx context.Context, key Key, lines linesFunc) (more bool, err error) {
	body, version, err := s.getVersion(ctx, key)
	absent := errors.Is(err, ErrNotExist)
	if err != nil && !absent {
		return false, err
	}
	want, err := lines(ctx)
	if err != nil {
		return false, s.wrap("append", string(key), err)
	}
	united := unite(body, want)
	switch {
	case bytes.Equal(united, body):
		return false, nil
	case !s.Capabilities().Replace:
		return true, s.Put(ctx, key, united)
	case absent:
		return false, s.Create(ctx, key, united)
	}
	return false, s.Replace(ctx, key, united, version)
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

// unite adds to body the lines it lacks, in their order.
func unite(body []byte, lines []string) []byte {
	have := map[string]bool{}
	if text := strings.TrimSuffix(string(body), "\n"); len(body) > 0 {
		for line := range strings.SplitSeq(text, "\n") {
			have[line] = true
		}
	}
	united := bytes.Clone(body)
	for _, line := range lines {
		if have[line] {
			continue
		}
		have[line] = true
		if len(united) > 0 && united[len(united)-1] != '\n' {
			united = append(united, '\n')
		}
		united = append(append(united, line...), '\n')
	}
	return united
}

func checkLines(lines []string) error {
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			return invalid(fmt.Errorf("the line %q holds an end of line", line))
		}
	}
	return nil
}
