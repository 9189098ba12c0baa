package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Completeness says how far an answer about a whole root can be trusted.
type Completeness struct {
	AsOf       time.Time // what was written before is known; zero = unknown
	Runs       int       // on record
	Unreadable int       // records that could not be read
	NoInputs   int       // runs that recorded nothing they used
}

// line is the end of an answer for people. What gives no reason for doubt is left out. A time of another day than
// today comes with its date.
func (c *Completeness) line(today time.Time) string {
	layout := "15:04:05Z07:00"
	if c.AsOf.UTC().Format(time.DateOnly) != today.UTC().Format(time.DateOnly) {
		layout = time.RFC3339
	}
	parts := []string{"as of " + c.AsOf.UTC().Format(layout)}
	if c.AsOf.IsZero() {
		parts[0] = "as of an unknown time"
	}
	if c.Unreadable > 0 {
		parts = append(parts, grouped(c.Unreadable)+" "+plural(c.Unreadable, "record")+" unreadable")
	}
	if c.NoInputs > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s %s recorded no inputs", grouped(c.NoInputs), grouped(c.Runs), plural(c.Runs, "run")))
	}
	return strings.Join(parts, "; ")
}

// Line ends an answer for people, as one sentence without a newline.
func (c *Completeness) Line() string { return c.line(time.Now()) }

// MarshalJSON implements json.Marshaler.
func (c *Completeness) MarshalJSON() ([]byte, error) { return json.Marshal(c.object()) }

func (c *Completeness) object() *pyjson.Object {
	return pyjson.NewObject(
		pyjson.Member{Key: "as_of", Value: plain(c.AsOf)},
		pyjson.Member{Key: "runs", Value: int64(c.Runs)},
		pyjson.Member{Key: "unreadable_records", Value: int64(c.Unreadable)},
		pyjson.Member{Key: "runs_without_inputs", Value: int64(c.NoInputs)})
}

// AddCompleteness makes it a member of the list's JSON document; nil adds none. The other forms do not have it.
func (l *List) AddCompleteness(c *Completeness) {
	if c != nil {
		l.Also = append(l.Also, pyjson.Member{Key: "completeness", Value: c.object()})
	}
}

// grouped is a number for people: 1,000.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
