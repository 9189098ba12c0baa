package store

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// timeOf is how long do keeps the processor busy: what others take from it meanwhile
// does not count.
func timeOf(t *testing.T, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := threadTime(t)
	do()
	return threadTime(t) - begun
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
