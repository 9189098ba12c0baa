package filter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of a time in a filter; without a zone it is UTC.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// earliest and latest bound the times that count in nanoseconds.
var (
	earliest = time.Unix(0, -1<<63)
	latest   = time.Unix(0, 1<<63-1)
)

// time reads a literal as a time: RFC 3339 or a part of it, "7d ago", or, as in MLflow, milliseconds since the Unix
// epoch. A non-empty text says what is wrong.
func (p *parser) time(v Literal) (when time.Time, wrong string) {
	when, ok := p.moment(v)
	if !ok || when.Before(earliest) || when.After(latest) {
		return time.Time{}, fmt.Sprintf("%q is no time; write '2026-11-20', '2026-11-20T10:00:00Z', '7d ago' or milliseconds since 1970", v.Text)
	}
	return when, ""
}

func (p *parser) moment(v Literal) (time.Time, bool) {
	if v.IsNumber {
		const most = 1 << 53
		return time.UnixMilli(int64(v.Number)), v.Number > -most && v.Number < most
	}
	if span, isAgo := strings.CutSuffix(v.Text, " ago"); isAgo {
		d, err := duration(strings.TrimSpace(span))
		return p.now.Add(-d), err == nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, v.Text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// duration reads Go's durations, and days and weeks.
func duration(s string) (time.Duration, error) {
	for unit, hours := range map[string]float64{"d": 24, "w": 7 * 24} {
		if count, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(count), 64)
			return time.Duration(n * hours * float64(time.Hour)), err
		}
	}
	return time.ParseDuration(s)
}
