package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	stdoutLog   = "stdout.log"
	stderrLog   = "stderr.log"
	combinedLog = "combined.log"

	maxLine   = 1 << 20                // bytes; combined.log breaks longer ones
	straggler = 500 * time.Millisecond // for output still in a pipe that someone keeps open
)

// logs keeps both streams: each byte for byte, and together line by line.
type logs struct {
	out, err *stream
	combined *combined
	copies   sync.WaitGroup
	gone     chan struct{} // tells that a reader of our output went away
}

// openLogs creates the three files in dir, or appends to them.
func openLogs(dir string, out, err io.Writer) (*logs, error) {
	both, fail := openLog(filepath.Join(dir, combinedLog))
	if fail != nil {
		return nil, fail
	}
	l := &logs{combined: &combined{file: both, part: filepath.Join(dir, partLog)}, gone: make(chan struct{}, 1)}
	l.combined.times = openTimes(dir)
	if l.out, fail = openStream(filepath.Join(dir, stdoutLog), l.combined, out, l.gone); fail != nil {
		l.combined.close()
		return nil, fail
	}
	if l.err, fail = openStream(filepath.Join(dir, stderrLog), l.combined, err, l.gone); fail != nil {
		l.out.closeAll()
		l.combined.close()
		return nil, fail
	}
	l.combined.times.follow(l.out.file, l.err.file, both)
	l.combined.begin(l.out, l.err)
	return l, nil
}

func (l *logs) closeChild() {
	_ = l.out.child.Close()
	_ = l.err.child.Close()
}

// follow begins to read what the process writes.
func (l *logs) follow() {
	for _, s := range []*stream{l.out, l.err} {
		s.view.start()
		l.copies.Go(s.copy)
	}
}

// finish waits for the ends of both streams and closes the files. It must follow
// the end of all of the job's processes: what an escaped one still holds open is
// read for a moment and then left.
func (l *logs) finish() (lost int64, err error) {
	limit := time.Now().Add(straggler)
	_ = l.out.pipe.SetReadDeadline(limit)
	_ = l.err.pipe.SetReadDeadline(limit)
	l.copies.Wait()
	l.combined.times.close()
	files := []*logFile{l.out.file, l.err.file, l.combined.file}
	for _, f := range files {
		f.settle()
		lost += f.lost
		err = errors.Join(err, f.err)
	}
	l.combined.whole()
	return lost, err
}

func (l *logs) drain(stall time.Duration) int64 {
	return l.out.view.drain(stall) + l.err.view.drain(stall)
}

// abandon undoes openLogs.
func (l *logs) abandon() {
	l.out.closeAll()
	l.err.closeAll()
	l.combined.close()
	l.combined.whole()
}

// stream carries one output of the process: its log first, then the lines it
// completes, then the eyes of who watches.
type stream struct {
	pipe, child *os.File
	file        *logFile
	combined    *combined
	view        *view
	partial     []byte // the line not yet ended
	taken       int64  // of the log, what is in combined.log; guarded by combined.mu
	mover       mover
}

func openStream(path string, both *combined, show io.Writer, gone chan<- struct{}) (*stream, error) {
	file, err := openLog(path)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	v, err := newView(path, show, gone)
	if err != nil {
		_, _, _ = file.Close(), r.Close(), w.Close()
		return nil, err
	}
	return &stream{pipe: r, child: w, file: file, combined: both, view: v, taken: file.size.Load()}, nil
}

func (s *stream) closeAll() {
	_, _, _ = s.pipe.Close(), s.child.Close(), s.file.Close()
	s.view.close()
}

func (s *stream) copy() {
	buf := make([]byte, 64<<10)
	for {
		at := s.file.size.Load()
		b, kept, err := s.fetch(buf)
		if len(b) > 0 {
			s.take(b, at, kept)
		}
		if err != nil {
			break
		}
	}
	if len(s.partial) > 0 {
		s.combined.add(s, append(s.partial, '\n'), s.file.size.Load())
	}
	s.view.end()
	_ = s.pipe.Close()
}

// fetchPlain is fetch by reading and writing: what we read and have not yet written is
// lost should we be killed.
func (s *stream) fetchPlain(buf []byte) (b []byte, kept int, err error) {
	n, err := s.pipe.Read(buf)
	if n > 0 {
		s.combined.mark()
		kept = s.file.append(buf[:n])
	}
	return buf[:n], kept, err
}

// take hands on b, of which the log has the first kept bytes, from at.
func (s *stream) take(b []byte, at int64, kept int) {
	s.view.push(at, kept, b[kept:])
	if n := bytes.LastIndexByte(b, '\n') + 1; n > 0 {
		s.combined.add(s, append(s.partial, b[:n]...), at+int64(min(n, kept)))
		s.partial, b = s.partial[:0], b[n:]
	}
	s.partial = append(s.partial, b...)
	if len(s.partial) >= maxLine {
		s.combined.add(s, append(s.partial, '\n'), s.file.size.Load())
		s.partial = s.partial[:0]
	}
}

// combined takes whole lines of both streams in the order they were read.
type combined struct {
	mu      sync.Mutex // guards file, times, note and what streams have taken
	file    *logFile
	times   *times
	part    string // name of the note
	note    *os.File
	streams [2]*stream
}

func (c *combined) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times.mark(time.Now())
}

func (c *combined) close() {
	c.times.close()
	_ = c.file.Close()
}

// add appends whole lines, with which all of a stream's log up to taken is there.
func (c *combined) add(s *stream, lines []byte, taken int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.file.append(lines)
	s.taken = taken
	c.tell()
}

// logFile is appended to. A write that fails loses its bytes, which are counted,
// and the next is tried again: a full disk may have room later, and the job is
// worth more than its log.
type logFile struct {
	*os.File
	size atomic.Int64 // bytes, also those there before; changed by one goroutine
	lost int64
	err  error // the first
}

// openLog opens it for us alone to write at its end: the kernel refuses to move bytes from
// a pipe to a file that is opened for appending.
func openLog(path string) (*logFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	l := &logFile{File: f}
	l.size.Store(info.Size())
	return l, nil
}

// append returns how many bytes of b are in the file.
func (f *logFile) append(b []byte) int {
	n, err := f.WriteAt(b, f.size.Load())
	f.size.Add(int64(n))
	if err != nil {
		f.lost += int64(len(b) - n)
		f.fail(err)
	}
	return n
}

func (f *logFile) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// settle closes the file, once it is sure to outlive a power failure; only then
// may a disk say that it is full.
func (f *logFile) settle() {
	var err error
	if f.size.Load() > 0 {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		f.fail(err)
	}
}
