package tracker

import (
	"cmp"
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// noArtifact stands for the link that names no artifact. It is not base32.
const noArtifact = "="

// AddSource first writes the link, which is the truth: from there on the edge is
// recorded, whatever becomes of the rest. Then it brings TorchX's text files up
// to date, the one of the parent only if the parent's directory exists, or a
// source from elsewhere would become a run. Where a line can be appended, which
// no other line depends on, link and lines are written side by side: link and
// line each tell of the edge, the parent's line follows one that is kept, and all
// are kept when the call returns.
//
// Where the files are put whole and many link the run to the same source, one of
// the writers puts them for all. A call then returns once the link is kept and such
// a writer was seen at work, which does not return itself before it has written all:
// when all calls have succeeded, the files hold every line. Where that writer dies or
// fails instead, the next writer completes the files, or Fsck does.
//
// An error after the link was written says so; to repeat the call completes what is
// missing.
func (t *FileTracker) AddSource(ctx context.Context, run RunID, s Source) error {
	if err := t.addSource(ctx, run, s); err != nil {
		return fmt.Errorf("add source to %s: %w", printable(string(run)), err)
	}
	return nil
}

func (t *FileTracker) addSource(ctx context.Context, run RunID, s Source) error {
	s = s.redacted()
	if err := s.check(); err != nil {
		return err
	}
	if err := t.mayWrite(ctx, run); err != nil {
		return err
	}
	if s.Time.IsZero() {
		s.Time = t.opts.Now()
	}
	body, err := s.link()
	if err != nil {
		return err
	}
	link := func() error { return t.writeLink(ctx, run, s, body) }
	text := func() error { return unmirrored(t.writeText(ctx, run, s)) }
	if t.s.Capabilities().Append {
		return together(link, text)
	}
	if err := link(); err != nil {
		return err
	}
	return text()
}

// together does both at once. The error of the first comes before that of the second.
func together(first, second func() error) error {
	var group errgroup.Group
	group.Go(second)
	err := first()
	return cmp.Or(err, group.Wait())
}

func (t *FileTracker) writeLink(ctx context.Context, run RunID, s Source, body []byte) error {
	err := t.s.Create(ctx, linkKey(run, s), body)
	if err != nil && !errors.Is(err, store.ErrExist) {
		return err
	}
	t.opts.Wrote(run)
	return nil
}

// writeText adds the line to both files, together with all that others linked
// meanwhile where a file is put whole. Who is spoilt by another writer takes turns,
// for a while.
func (t *FileTracker) writeText(ctx context.Context, run RunID, s Source) error {
	key := turnKey(run, s.ID)
	if v := t.turns.update(key, func(*sight) {}); !v.crowded.IsZero() && time.Since(v.crowded) < crowdMemory {
		return t.takeTurns(ctx, run, s)
	}
	err := t.writeTexts(ctx, run, s, func(file store.Key) error {
		return t.s.AddLinesOnce(ctx, file, []string{s.Artifact}, func(ctx context.Context) ([]string, error) {
			return t.linked(ctx, run, s.ID)
		})
	})
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	t.turns.update(key, func(v *sight) { v.crowded = time.Now() })
	return t.takeTurns(ctx, run, s)
}

// writeTexts adds to the file of the run itself, and once that tells of the edge, to
// the one of the parent if it is tracked.
func (t *FileTracker) writeTexts(ctx context.Context, run RunID, s Source, add func(file store.Key) error) error {
	if err := add(run.dir().Join(sourcesDir, s.ID.Encode())); err != nil {
		return err
	}
	tracked, err := t.exists(ctx, s.ID)
	if err != nil || !tracked {
		return err
	}
	return add(s.ID.dir().Join(descendantsDir, run.Encode()))
}

func unmirrored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the link is recorded, but not yet in TorchX's files: %w", err)
}

func linkKey(run RunID, s Source) store.Key {
	return linkDir(run, s.ID).Join(encodeArtifact(s.Artifact))
}

func linkDir(run, source RunID) store.Key {
	return run.dir().Join(heirloomDir, linksDir, source.Encode())
}

func encodeArtifact(name string) string {
	if name == "" {
		return noArtifact
	}
	return base32.StdEncoding.EncodeToString([]byte(name))
}

func decodeArtifact(elem string) (string, error) {
	if elem == noArtifact {
		return "", nil
	}
	text, err := base32.StdEncoding.DecodeString(elem)
	if err != nil || len(text) == 0 || base32.StdEncoding.EncodeToString(text) != elem {
		return "", errors.New("not the base32 form of an artifact's name")
	}
	return string(text), checkText(string(text), maxIDBytes)
}

// linkedNames yields the names of the links from source.
func (t *FileTracker) linkedNames(ctx context.Context, run, source RunID) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range t.s.ListDir(ctx, linkDir(run, source)) {
			if err != nil {
				yield("", err)
				return
			}
			if name, err := decodeArtifact(e.Key.Base()); err == nil && !yield(name, nil) {
				return
			}
		}
	}
}

func (t *FileTracker) linked(ctx context.Context, run, source RunID) ([]string, error) {
	var list []string
	for name, err := range t.linkedNames(ctx, run, source) {
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// exists says whether anything at all is kept about run.
func (t *FileTracker) exists(ctx context.Context, run RunID) (bool, error) {
	for _, err := range t.s.ListDir(ctx, run.dir()) {
		return err == nil, err
	}
	return false, nil
}

// textLines reads a file of artifact names as TorchX does, save that an empty
// line counts beside names. written holds the names known from links: a last
// line without its end that begins one of them is a torn write, not a name.
func textLines(body []byte, written map[string]bool) []string {
	if len(body) == 0 {
		return []string{""}
	}
	lines := strings.Split(string(body), "\n")
	last := len(lines) - 1
	if torn(lines[last], written) {
		lines = lines[:last]
	}
	seen := make(map[string]bool)
	list := lines[:0]
	for _, line := range lines {
		line = strings.ToValidUTF8(strings.Trim(line, " \t\r\v\f"), "\ufffd")
		if !seen[line] {
			seen[line] = true
			list = append(list, line)
		}
	}
	return list
}

func torn(tail string, written map[string]bool) bool {
	if tail == "" {
		return true // what follows the last line end
	}
	for name := range written {
		if len(name) > len(tail) && strings.HasPrefix(name, tail) {
			return true
		}
	}
	return false
}
