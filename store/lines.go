package store

import (
	"context"
	"fmt"
	"strings"
)

// linesFunc tells lines of an object that are recorded elsewhere.
type linesFunc func(context.Context) ([]string, error)

// AddLines makes the text object hold every one of lines, "" among them, and
// keeps those that are there; an unended last line is ended first. Without lines
// nothing is written.
//
// Writers of one process to one object are served together. Where
// Capabilities().Append, a lock is taken and the lines are appended; else
// the object is read, united and put on condition that it did not change; where
// there is no Replace either, it is put without, and looked at again until it
// holds all.
//
// others tells what other writers have to add as well, from what they recorded
// elsewhere before they came here; it is asked where the object is put whole, so
// that one writer does the work of all who wait, and where there is Replace, not
// again for a minute in which only this process changes the object. All writers
// of one object tell the same. Nil is none; where there is no Replace a line can be
// lost then.
func (s *Store) AddLines(ctx context.Context, key Key, lines []string, others func(context.Context) ([]string, error)) error {
	return s.addLinesTo(ctx, key, lines, others, false)
}

// AddLinesOnce is AddLines for who knows how to take turns with other writers: it
// does not insist where one of them comes between, but is ErrConflict. What was put
// then may or may not hold the lines.
func (s *Store) AddLinesOnce(ctx context.Context, key Key, lines []string, others func(context.Context) ([]string, error)) error {
	return s.addLinesTo(ctx, key, lines, others, true)
}

func (s *Store) addLinesTo(ctx context.Context, key Key, lines []string, others linesFunc, once bool) error {
	full, err := s.full(key)
	if err == nil {
		err = checkLines(lines)
	}
	if err != nil || len(lines) == 0 {
		return s.wrap("append", string(key), err)
	}
	err = s.lines.add(ctx, full, lines, func(ctx context.Context, lines []string) error {
		u := uniter{s: s, key: key, lines: lines, others: others, once: once}
		return s.addLines(ctx, full, u)
	})
	return s.wrap("append", string(key), s.renamed("append", err))
}

// addLines does it by the means of the backend.
func (s *Store) addLines(ctx context.Context, full string, u uniter) error {
	a, ok := s.back.(appender)
	if ok && s.Capabilities().Append {
		_, err := s.do(ctx, Request{Op: "append", Key: string(u.key)}, func(ctx context.Context) error {
			return a.appendLines(ctx, full, u.lines)
		})
		return err
	}
	if u.once {
		return u.run(ctx)
	}
	u.patience = s.lines.patienceFor(full)
	err := u.run(ctx)
	s.lines.setPatience(full, u.patience)
	return err
}

func checkLines(lines []string) error {
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			return invalid(fmt.Errorf("the line %q holds an end of line", line))
		}
	}
	return nil
}
