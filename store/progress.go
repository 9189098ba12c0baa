package store

import (
	"math"
	"sync"
	"time"
)

const (
	reportEvery = 100 * time.Millisecond
	// rateHalf is after which time a past rate counts half.
	rateHalf = 3 * time.Second
)

// transferMeter tells the caller how far it has come.
type transferMeter struct {
	report func(Progress) // nil is nobody

	mu      sync.Mutex // guards all below, and orders the calls of report
	now     Progress
	shown   time.Time // of the last report; the beginning, before
	told    bool      // of bytes at all
	counted int64     // bytes moved or checked until then, without those of an earlier try
	weight  float64   // of the rates so far, to 1
}

func newTransferMeter(report func(Progress)) *transferMeter {
	return &transferMeter{report: report, shown: time.Now()}
}

// expect adds to what is to be moved.
func (m *transferMeter) expect(files int, bytes int64) {
	m.change(func(p *Progress) { p.FilesTotal += files; p.BytesTotal += bytes })
}

// moved adds bytes that arrived, resumed those that an earlier try had moved.
func (m *transferMeter) moved(bytes int64) { m.change(func(p *Progress) { p.Bytes += bytes }) }
func (m *transferMeter) resumed(bytes int64) {
	m.change(func(p *Progress) { p.Bytes += bytes; p.Resumed += bytes })
}

// restart takes back the bytes of a file that begins anew.
func (m *transferMeter) restart(bytes, resumed int64) {
	m.change(func(p *Progress) { p.Bytes -= bytes; p.Resumed -= resumed })
}

// toCheck adds to what is to be read before, checked what was.
func (m *transferMeter) toCheck(bytes int64) {
	m.change(func(p *Progress) { p.CheckedTotal += bytes })
}
func (m *transferMeter) checked(bytes int64) { m.change(func(p *Progress) { p.Checked += bytes }) }

// fileDone counts a file.
func (m *transferMeter) fileDone() { m.change(func(p *Progress) { p.Files++ }) }

// finish reports for the last time.
func (m *transferMeter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(time.Now())
}

func (m *transferMeter) change(do func(*Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(&m.now)
	first := !m.told && m.now.Bytes+m.now.Checked > 0
	if now := time.Now(); first || now.Sub(m.shown) >= reportEvery {
		m.told = m.told || first
		m.tell(now)
	}
}

// tell brings rate and ETA up to date and reports. The rate is a mean of those
// of the past, whose weight halves with time. mu is held.
func (m *transferMeter) tell(now time.Time) {
	if m.report == nil {
		return
	}
	if passed := now.Sub(m.shown); passed > 0 {
		moved := m.now.Bytes - m.now.Resumed + m.now.Checked
		keep := math.Exp2(-float64(passed) / float64(rateHalf))
		rate := max(float64(moved-m.counted), 0) / passed.Seconds()
		sum := m.now.Rate*m.weight*keep + rate*(1-keep)
		m.weight = m.weight*keep + 1 - keep
		m.now.Rate = sum / m.weight
		m.shown, m.counted = now, moved
	}
	m.now.ETA = 0
	checked := m.now.Checked == m.now.CheckedTotal // else much of it may not be moved at all
	if left := m.now.BytesTotal - m.now.Bytes; left > 0 && m.now.Rate > 0 && checked {
		m.now.ETA = time.Duration(float64(left) / m.now.Rate * float64(time.Second))
	}
	m.report(m.now)
}
