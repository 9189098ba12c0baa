//go:build unix

package tracker_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used of the processors, which says more
// than the time that passes where others use them too.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
