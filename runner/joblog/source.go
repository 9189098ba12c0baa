package joblog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
)

const chunk = 256 << 10 // bytes read at a time; a line may be longer

// source reads one stream of one replica, attempt after attempt.
type source struct {
	dir  string // <attempt>/ below it
	only int    // attempt; 0 = all
	line runner.LogLine

	file  *os.File       // nil = no attempt is open
	log   string         // its name
	rests []process.Rest // what follows it; nil = not yet asked, or nothing
	asked bool
	index *os.File // nil = there is none, or it was not yet seen
	times process.Times
	buf   []byte // read and not yet yielded
	at    int64  // of buf in the file
	until int    // bytes of buf that hold no end of a line
}

func (s *source) close() {
	for _, f := range []*os.File{s.file, s.index} {
		if f != nil {
			_ = f.Close()
		}
	}
	s.file, s.index = nil, nil
}

// next sets line to the next one, if there is one. With ended what has no end is a line
// too; over says that nothing is written any more.
func (s *source) next(ended bool, over func() bool) (bool, error) {
	for {
		later := s.later()
		switch {
		case s.file == nil && later == 0:
			return false, nil
		case s.file == nil:
			if ok, err := s.open(later); !ok || err != nil {
				return false, err
			}
			continue
		}
		ok, err := s.nextHere(ended || later > 0, func() bool { return later > 0 || over() })
		if ok || err != nil || later == 0 {
			return ok, err
		}
		s.close() // a later attempt begins when this one is over
	}
}

// later gives the attempt after the one that is open, 0 if there is none.
func (s *source) later() int {
	if s.only > 0 {
		if s.line.Attempt == s.only {
			return 0
		}
		return s.only
	}
	if s.file != nil && len(s.buf) > s.until { // no need to look now
		if runner.LineEnd(s.buf[s.until:]) > 0 {
			return 0
		}
	}
	list, _ := attempts(s.dir)
	for _, n := range list {
		if n > s.line.Attempt {
			return n
		}
	}
	return 0
}

func (s *source) open(attempt int) (bool, error) {
	name := string(s.line.Stream) + ".log"
	f, err := os.Open(s.path(attempt, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it is about to be
	}
	if err != nil {
		return false, fmt.Errorf("read logs: %w", err)
	}
	s.file, s.log, s.line.Attempt, s.buf, s.at, s.until, s.times = f, name, attempt, nil, 0, 0, process.Times{}
	s.rests, s.asked = nil, false
	return true, nil
}

// goOn opens what follows the log, where there is something: a combined log may lack lines
// of the others, if who wrote it was killed. What is left of the last line is not to be
// passed over: the caller takes it, but for that of combined.log, which goes on.
func (s *source) goOn(over func() bool) (bool, error) {
	if s.line.Stream != runner.Combined {
		return false, nil
	}
	if !s.asked {
		if err := s.ask(over); err != nil {
			return false, err
		}
	} else if len(s.buf) > 0 {
		return false, nil
	}
	if len(s.rests) == 0 {
		return false, nil
	}
	next := s.rests[0]
	f, err := os.Open(s.path(s.line.Attempt, next.Log))
	if err != nil {
		return false, fmt.Errorf("read logs: %w", err)
	}
	s.close()
	s.rests, s.file, s.log, s.times = s.rests[1:], f, next.Log, process.Times{}
	s.at = next.At - int64(len(s.buf))
	return true, nil
}

func (s *source) path(attempt int, name string) string {
	return filepath.Join(s.dir, strconv.Itoa(attempt), name)
}

// ask finds what follows combined.log, which cannot be told while it is written.
func (s *source) ask(over func() bool) error {
	dir := filepath.Join(s.dir, strconv.Itoa(s.line.Attempt))
	rests, err := process.Rests(dir)
	if len(rests) == 0 && err == nil || !over() {
		return nil
	}
	if s.rests, err = process.Rests(dir); err != nil { // once more, now that nothing changes
		return fmt.Errorf("read logs: %w", err)
	}
	s.asked = true
	return nil
}

// nextHere takes the next line of the open log and of what follows it.
func (s *source) nextHere(whole bool, over func() bool) (bool, error) {
	for {
		if n := runner.LineEnd(s.buf[s.until:]); n > 0 {
			s.take(s.until + n)
			return true, nil
		}
		s.until = max(0, len(s.buf)-1) // the last may be the \r of \r\n
		more := make([]byte, chunk)
		n, err := s.file.ReadAt(more, s.at+int64(len(s.buf)))
		s.buf = append(s.buf, more[:n]...)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("read logs: %w", err)
		}
		if n > 0 {
			s.readTimes()
			continue
		}
		if whole {
			if ok, err := s.goOn(over); err != nil {
				return false, err
			} else if ok {
				continue
			}
		}
		if whole && len(s.buf) > 0 {
			s.take(len(s.buf))
			return true, nil
		}
		return false, nil
	}
}

func (s *source) take(n int) {
	s.line.Text = string(s.buf[:n])
	s.line.Time = s.timeOf()
	s.buf, s.until = s.buf[n:], 0
	s.at += int64(n)
}

// readTimes reads on in the index; entries are there before the bytes they tell of.
func (s *source) readTimes() {
	if s.index == nil {
		s.index, _ = os.Open(s.path(s.line.Attempt, "times.idx"))
	}
	if s.index != nil {
		_ = s.times.ReadMore(s.index, s.log)
	}
}

// timeOf is when the line was written. Logs without an index were written all at
// one time.
func (s *source) timeOf() time.Time {
	if at := s.times.Of(s.at); !at.IsZero() || s.file == nil {
		return at
	}
	info, err := s.file.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC()
}
