package tracker

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// processClock gives the names of all trackers of this process that use the
// real time: names must rise within a process, whichever tracker writes them.
var processClock clock

// clock yields times that strictly rise, even where the given ones do not.
type clock struct {
	mu   sync.Mutex
	last int64 // guarded by mu; the last one given out
}

func (c *clock) next(now time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last+1, now.UnixNano())
	return c.last
}

// recordName is the name of a new record: 19 digits of nanoseconds since the
// Unix epoch, then 8 random bytes, so that no two writers collide.
func (t *FileTracker) recordName() (string, error) {
	var suffix [8]byte
	if _, err := io.ReadFull(t.opts.Rand, suffix[:]); err != nil {
		return "", fmt.Errorf("name a record: %w", err)
	}
	return fmt.Sprintf("%019d-%s", t.clock.next(t.opts.Now()), hex.EncodeToString(suffix[:])), nil
}

// recordDigits returns the digits of a record's name without leading zeros.
// TorchX's names are digits alone; anything else is a foreign file.
func recordDigits(name string) (string, bool) {
	digits, suffix, cut := strings.Cut(name, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || cut && suffix == "" {
		return "", false
	}
	return strings.TrimLeft(digits, "0"), true
}

// compareRecords orders records by the number of their names; equal numbers
// have no order in time, so the whole name decides, the same for every reader.
func compareRecords(a, b record) int {
	return cmp.Or(
		cmp.Compare(len(a.digits), len(b.digits)),
		cmp.Compare(a.digits, b.digits),
		cmp.Compare(a.key, b.key),
	)
}

// timeLayout is RFC 3339 in UTC with all nine digits, so that its length is fixed.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// parseTime is the zero time for anything that is not RFC 3339.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
