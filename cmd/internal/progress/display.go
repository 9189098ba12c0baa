package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// How often each mode shows something.
const (
	lineEvery  = 100 * time.Millisecond
	plainEvery = 5 * time.Second
	jsonEvery  = time.Second
)

// Display shows the progress of one transfer, or of several in a row as one. It is safe for concurrent use.
type Display struct {
	w     io.Writer
	mode  Mode
	width func() int // columns of the terminal, 0 if unknown
	start time.Time

	mu    sync.Mutex // guards what follows
	done  store.Progress
	now   store.Progress // of the transfer that goes on
	shown time.Time
	drawn bool // a line stands on the terminal
}

// New starts the clock. width may be nil.
func New(w io.Writer, mode Mode, width func() int) *Display {
	if width == nil {
		width = func() int { return 0 }
	}
	start := time.Now()
	return &Display{w: w, mode: mode, width: width, start: start, shown: start}
}

// Update takes the progress of the transfer that goes on.
func (d *Display) Update(p store.Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = p
	if time.Since(d.shown) < d.every() {
		return
	}
	d.shown = time.Now()
	d.show(d.sum(), false)
}

// Next says that the transfer has ended and another one begins.
func (d *Display) Next() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = d.sum()
	d.now = store.Progress{}
}

// Clear wipes what stands on the terminal away, for a line of another kind.
func (d *Display) Clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
}

// Close ends the display and says what was moved in all.
func (d *Display) Close() Summary {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.sum()
	d.clear()
	if d.mode == JSON {
		d.show(sum, true)
	}
	return Summary{Progress: sum, Took: time.Since(d.start)}
}

func (d *Display) every() time.Duration {
	switch d.mode {
	case Plain:
		return plainEvery
	case JSON:
		return jsonEvery
	}
	return lineEvery
}

// sum is what all transfers came to so far.
func (d *Display) sum() store.Progress {
	sum := d.now
	sum.Files += d.done.Files
	sum.FilesTotal += d.done.FilesTotal
	sum.Bytes += d.done.Bytes
	sum.BytesTotal += d.done.BytesTotal
	sum.Resumed += d.done.Resumed
	sum.Checked += d.done.Checked
	sum.CheckedTotal += d.done.CheckedTotal
	return sum
}

func (d *Display) show(p store.Progress, done bool) {
	switch d.mode {
	case Line:
		fmt.Fprint(d.w, "\r", cut(words(p), d.width()-1), "\x1b[K")
		d.drawn = true
	case Plain:
		fmt.Fprintln(d.w, words(p))
	case JSON:
		_ = render.Document(d.w, newReport(p, done), render.JSONL) // of a display, nobody waits for the error
	}
}

// clear wipes the line away.
func (d *Display) clear() {
	if d.drawn {
		fmt.Fprint(d.w, "\r\x1b[K")
		d.drawn = false
	}
}

// report is the progress as JSON; docs/json.md tells of each field.
type report struct {
	Files      int      `json:"files"`
	FilesTotal int      `json:"files_total"`
	Bytes      int64    `json:"bytes"`
	BytesTotal int64    `json:"bytes_total"`
	Resumed    int64    `json:"resumed"`
	Checked    int64    `json:"checked"`
	CheckTotal int64    `json:"checked_total"`
	Rate       float64  `json:"rate"`
	ETA        *float64 `json:"eta_seconds"`
	Done       bool     `json:"done"`
}

func newReport(p store.Progress, done bool) report {
	r := report{
		Files: p.Files, FilesTotal: p.FilesTotal, Bytes: p.Bytes, BytesTotal: p.BytesTotal, Resumed: p.Resumed,
		Checked: p.Checked, CheckTotal: p.CheckedTotal, Rate: p.Rate, Done: done,
	}
	if p.ETA > 0 {
		seconds := p.ETA.Seconds()
		r.ETA = &seconds
	}
	return r
}
