package storetest

import (
	"os"

	"golang.org/x/sys/unix"
)

// dirtyPages counts the pages of a file that are not on disk yet. known is
// false before Linux 6.5.
func dirtyPages(path string) (pages uint64, known bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
		return 0, false
	}
	return stat.Dirty + stat.Writeback, true
}
