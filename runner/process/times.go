package process

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	timesLog  = "times.idx"
	timesStep = 50 * time.Millisecond // what comes sooner after an entry has its time
)

// times notes beside the logs, which hold the job's bytes and nothing else, when
// they were written. Each line says, before more is written: nanoseconds since
// the Unix epoch, and the sizes of stdout.log, stderr.log and combined.log then.
// Logs written at one time have none: their own times say it. It is a help: where it
// cannot be written, nobody is told.
type times struct {
	path  string
	file  *os.File // nil = not yet, or it cannot be opened
	sizes [3]*logFile
	last  time.Time
	first []byte // the line not yet written, since there is no second
}

func openTimes(dir string) *times { return &times{path: filepath.Join(dir, timesLog)} }

func (t *times) follow(files ...*logFile) { copy(t.sizes[:], files) }

func (t *times) mark(now time.Time) {
	if now.Sub(t.last) < timesStep {
		return
	}
	begun := !t.last.IsZero()
	t.last = now
	line := strconv.AppendInt(make([]byte, 0, 64), now.UnixNano(), 10)
	for _, f := range t.sizes {
		line = strconv.AppendInt(append(line, ' '), f.size.Load(), 10)
	}
	line = append(line, '\n')
	switch {
	case !begun:
		t.first = line
		return
	case t.first != nil:
		t.file, _ = os.OpenFile(t.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
		line, t.first = append(t.first, line...), nil
	}
	if t.file != nil {
		_, _ = t.file.Write(line)
	}
}

func (t *times) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// Times tells when bytes of one log were written. The zero value does not know.
type Times struct {
	at     []int64 // sizes of the log, not falling
	unixNS []int64
	rest   []byte // of a line not yet whole
}

// ReadTimes reads the index, times.idx, that lies beside the log of that name:
// stdout.log, stderr.log or combined.log.
func ReadTimes(r io.Reader, log string) (Times, error) {
	var t Times
	err := t.ReadMore(r, log)
	return t, err
}

// ReadMore reads on in an index that grows, from where the last call came to an end.
// Lines that are none, as what a power failure left of the last one, are passed over.
func (t *Times) ReadMore(r io.Reader, log string) error {
	body, err := io.ReadAll(r)
	body = append(t.rest, body...)
	n := bytes.LastIndexByte(body, '\n') + 1
	t.rest = append([]byte(nil), body[n:]...)
	for line := range bytes.Lines(body[:n]) {
		t.add(string(line), log)
	}
	return err
}

func (t *Times) add(line, log string) {
	words := strings.Fields(line)
	field := 1 + slices.Index([]string{stdoutLog, stderrLog, combinedLog}, log)
	if len(words) != 4 || field == 0 {
		return
	}
	ns, err := strconv.ParseInt(words[0], 10, 64)
	size, err2 := strconv.ParseInt(words[field], 10, 64)
	if n := len(t.at); err != nil || err2 != nil || size < 0 || n > 0 && size < t.at[n-1] {
		return
	}
	t.at, t.unixNS = append(t.at, size), append(t.unixNS, ns)
}

// Of gives the time at which the byte at that offset was written, to a twentieth of
// a second; zero if that is not known.
func (t Times) Of(offset int64) time.Time {
	n := sort.Search(len(t.at), func(i int) bool { return t.at[i] > offset })
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, t.unixNS[n-1]).UTC()
}
