package usage

import (
	"os"
	"syscall"
)

// peak is the memory that a process had at the most, in bytes.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
