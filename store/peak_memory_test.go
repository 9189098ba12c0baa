package store_test

import (
	"fmt"
	"os"
	"strings"
)

// peakMemory is the most that this process has held in memory, in bytes, 0 where
// the system does not tell. What wait tells of a child is no less than what its
// parent held when it began.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}
