package runner

import (
	"bytes"
	"io"
	"sync"
)

const maxShown = 64 << 10 // bytes of a line that are held back for its end

// screen shows the output of several replicas by whole lines, each with its
// replica before it.
type screen struct {
	prefix func(role string, replica int) string // nil = none
	alone  bool                                  // one replica: its bytes as they are

	mu    sync.Mutex // held for a write to who watches, so that lines stay whole
	lines []*liner
}

// of gives the writer for one stream of a replica, nil for none.
func (s *screen) of(t *task, out io.Writer) io.Writer {
	if out == nil || s.alone || s.prefix == nil {
		return out
	}
	l := &liner{screen: s, out: out, prefix: []byte(s.prefix(t.name, t.replica))}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
	return l
}

// end shows the lines that were not ended.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if len(l.partial) > 0 {
			_, _ = l.out.Write(append(append(l.prefix, l.partial...), '\n'))
			l.partial = nil
		}
	}
}

// liner puts the prefix before each line. A line ends with \n, or with the \r of
// what is written over.
type liner struct {
	screen  *screen
	out     io.Writer
	prefix  []byte
	partial []byte // of a line not yet ended
}

func (l *liner) Write(b []byte) (int, error) {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	var shown []byte
	text := append(l.partial, b...)
	for {
		n := LineEnd(text)
		if n == 0 {
			break
		}
		shown = append(append(shown, l.prefix...), text[:n]...)
		text = text[n:]
	}
	if len(text) >= maxShown {
		shown = append(append(append(shown, l.prefix...), text...), '\n')
		text = nil
	}
	l.partial = append([]byte(nil), text...)
	if len(shown) == 0 {
		return len(b), nil
	}
	if _, err := l.out.Write(shown); err != nil {
		return 0, err
	}
	return len(b), nil
}

// LineEnd gives the length of the first line with its end, which is \n, \r\n, or the \r
// of what is written over; 0 if none is ended. A \r in the last place is left: a \n may
// follow that belongs to it.
func LineEnd(text []byte) int {
	i := bytes.IndexAny(text, "\r\n")
	switch {
	case i < 0 || text[i] == '\r' && i == len(text)-1:
		return 0
	case text[i] == '\r' && text[i+1] == '\n':
		return i + 2
	}
	return i + 1
}
