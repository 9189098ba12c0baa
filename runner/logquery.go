package runner

import (
	"regexp"
	"time"
)

// Stream is what a replica writes to.
type Stream string

// The streams.
const (
	Combined Stream = "combined"
	Stdout   Stream = "stdout"
	Stderr   Stream = "stderr"
)

// LogQuery says which lines of an app's logs are wanted. The zero value is all
// that is there.
type LogQuery struct {
	Role     string         // "" = all
	Replicas []int          // nil = all
	Attempt  int            // from 1; 0 = all, one after the other
	Stream   Stream         // "" = Combined, or what the scheduler has in its place
	Regex    *regexp.Regexp // lines in which it matches; nil = all
	Since    time.Time      // not before; zero = from the beginning
	Until    time.Time      // before; zero = to the end
	Tail     bool           // wait for more until the app has ended
}

// LogLine is one line of a log.
type LogLine struct {
	Task    string // of an array; "" = it is none
	Role    string
	Replica int
	Attempt int    // from 1
	Stream  Stream // Combined where which one it was is not known
	// Time is when it was written, zero where that is not known.
	Time time.Time
	// Text is the line with its end: "\n", "\r" of what is written over, as progress
	// bars do, or nothing where the log ends without. It may hold any bytes.
	Text string
}
