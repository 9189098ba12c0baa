package dataset

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
)

// moment is a time as it was written.
type moment struct {
	seconds int64 // since the Unix epoch, with the zone taken off
	nanos   int64
	digits  int // of the fraction of a second
	zone    bool
}

// parseMoment reads ISO 8601 as logs and databases write it: 2006-01-02T15:04,
// with a blank for the T, seconds, up to nine digits of a fraction, and Z or
// an offset such as +02:00, +0200 or +02.
func parseMoment(text []byte) (m moment, ok bool) {
	date, rest, ok := day(text)
	if !ok || len(rest) < 6 || rest[0] != 'T' && rest[0] != ' ' {
		return m, false
	}
	hour, rest, ok1 := digits(rest[1:], 2)
	minute, rest, ok2 := colonDigits(rest)
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return m, false
	}
	m.seconds = date.Unix() + int64(hour)*3600 + int64(minute)*60
	if len(rest) > 0 && rest[0] == ':' {
		second, after, ok := colonDigits(rest)
		if !ok || second > 59 {
			return m, false
		}
		m.seconds += int64(second)
		if rest, ok = m.fraction(after); !ok {
			return m, false
		}
	}
	return m, m.offset(rest)
}

func colonDigits(text []byte) (value int, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != ':' {
		return 0, nil, false
	}
	return digits(text[1:], 2)
}

func (m *moment) fraction(text []byte) (rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '.' {
		return text, true
	}
	rest = text[1:]
	scale := int64(1e9)
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && m.digits < 9 {
		scale /= 10
		m.nanos += int64(rest[0]-'0') * scale
		m.digits++
		rest = rest[1:]
	}
	return rest, m.digits > 0
}

// offset reads the zone, all that is left of the text.
func (m *moment) offset(text []byte) bool {
	switch {
	case len(text) == 0:
		return true
	case len(text) == 1 && text[0] == 'Z':
		m.zone = true
		return true
	case text[0] != '+' && text[0] != '-':
		return false
	}
	hours, rest, ok := digits(text[1:], 2)
	minutes := 0
	if ok && len(rest) > 0 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		minutes, rest, ok = digits(rest, 2)
	}
	if !ok || len(rest) > 0 || hours > 23 || minutes > 59 {
		return false
	}
	seconds := int64(hours)*3600 + int64(minutes)*60
	if text[0] == '+' {
		seconds = -seconds
	}
	m.seconds += seconds
	m.zone = true
	return true
}

// timestamps parses what a type of timestamps holds. A type with a zone wants the
// zone said in the text, one without wants none; no digit may be lost.
func timestamps(kind *arrow.TimestampType) func([]byte) (arrow.Timestamp, bool) {
	perSecond, most := int64(1e6), 6
	switch kind.Unit {
	case arrow.Millisecond:
		perSecond, most = 1e3, 3
	case arrow.Nanosecond:
		perSecond, most = 1e9, 9
	}
	limit := math.MaxInt64/perSecond - 1
	return func(text []byte) (arrow.Timestamp, bool) {
		m, ok := parseMoment(text)
		if !ok || m.zone != (kind.TimeZone != "") || m.digits > most || m.seconds > limit || m.seconds < -limit {
			return 0, false
		}
		return arrow.Timestamp(m.seconds*perSecond + m.nanos*perSecond/1e9), true
	}
}
