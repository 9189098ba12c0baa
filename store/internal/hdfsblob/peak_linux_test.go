package hdfsblob

import (
	"os"
	"syscall"
)

// peak is the memory that a process had at the most, in bytes.
func peak(state *os.ProcessState) int64 {
	usage, _ := state.SysUsage().(*syscall.Rusage)
	return usage.Maxrss << 10
}
