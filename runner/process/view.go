package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxUnlogged bounds what a view holds of output that the log could not take.
const maxUnlogged = 1 << 20 // bytes

// view shows a log to a writer as it grows. The log itself is the queue, so that
// a reader that is slow, stopped or gone costs neither the job nor the log
// anything.
type view struct {
	out  io.Writer // nil = nobody watches
	log  *os.File
	gone chan<- struct{} // told when the reader of out has gone away

	mu     sync.Mutex // guards what follows
	more   *sync.Cond
	parts  []part
	held   int   // bytes in parts
	pushed int64 // bytes, all that was written
	shown  int64 // bytes
	ended  bool
	failed bool // the writer wants no more
	given  bool // up: it took nothing for too long
	done   chan struct{}
}

// part is a range of the log, or bytes that it does not have.
type part struct {
	at, size int64
	bytes    []byte
}

func newView(path string, out io.Writer, gone chan<- struct{}) (*view, error) {
	v := &view{out: out, gone: gone, done: make(chan struct{})}
	v.more = sync.NewCond(&v.mu)
	if out == nil {
		close(v.done)
		return v, nil
	}
	log, err := os.Open(path)
	v.log = log
	return v, err
}

func (v *view) close() {
	if v.log != nil {
		_ = v.log.Close()
	}
}

func (v *view) start() {
	if v.out != nil {
		go v.run()
	}
}

// push adds size bytes of the log from at, and rest, which is not in the log.
func (v *view) push(at int64, size int, rest []byte) {
	if v.out == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pushed += int64(size + len(rest))
	if size > 0 {
		v.addRange(at, int64(size))
	}
	if rest = rest[:min(len(rest), maxUnlogged-v.held)]; len(rest) > 0 {
		v.parts = append(v.parts, part{bytes: append([]byte(nil), rest...)})
		v.held += len(rest)
	}
	v.more.Signal()
}

func (v *view) addRange(at, size int64) {
	if n := len(v.parts); n > 0 && v.parts[n-1].bytes == nil && v.parts[n-1].at+v.parts[n-1].size == at {
		v.parts[n-1].size += size
		return
	}
	v.parts = append(v.parts, part{at: at, size: size})
}

func (v *view) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	v.more.Signal()
}

func (v *view) run() {
	defer close(v.done)
	defer v.close()
	buf := make([]byte, 64<<10)
	for {
		next, ok := v.next(int64(len(buf)))
		if !ok {
			return
		}
		b := next.bytes
		if b == nil {
			n, _ := v.log.ReadAt(buf[:next.size], next.at)
			b = buf[:n]
		}
		n, err := v.out.Write(b)
		v.count(n, err)
	}
}

// next takes at most limit bytes of what is to be shown; false at the end.
func (v *view) next(limit int64) (part, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.parts) == 0 && !v.ended {
		v.more.Wait()
	}
	if len(v.parts) == 0 || v.failed || v.given {
		return part{}, false
	}
	first := v.parts[0]
	if first.bytes == nil && first.size > limit {
		v.parts[0] = part{at: first.at + limit, size: first.size - limit}
		first.size = limit
		return first, true
	}
	v.parts = v.parts[1:]
	v.held -= len(first.bytes)
	return first, true
}

func (v *view) count(n int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown += int64(n)
	v.failed = v.failed || err != nil
	if errors.Is(err, syscall.EPIPE) {
		select {
		case v.gone <- struct{}{}:
		default: // it is known
		}
	}
}

// drain waits for the end of the view, or until nothing was shown for that long,
// and returns the bytes that were not. A writer that failed has missed nothing
// it wanted: 0.
func (v *view) drain(stall time.Duration) int64 {
	for before := v.progress(); ; {
		select {
		case <-v.done:
			return v.missed()
		case <-time.After(stall):
		}
		now := v.progress()
		if now == before {
			return v.giveUp()
		}
		before = now
	}
}

func (v *view) progress() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown
}

func (v *view) giveUp() int64 {
	v.mu.Lock()
	v.given = true
	v.mu.Unlock()
	return v.missed()
}

func (v *view) missed() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failed || v.out == nil {
		return 0
	}
	return v.pushed - v.shown
}
