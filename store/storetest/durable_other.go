//go:build !linux

package storetest

// dirtyPages cannot be told here.
func dirtyPages(string) (pages uint64, known bool) { return 0, false }
