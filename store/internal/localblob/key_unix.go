//go:build !windows

package localblob

// isUnsafe says whether the byte at i cannot stand in a file name.
func isUnsafe(elem string, i int) bool { return elem[i] < ' ' || elem[i] == 0x7f }

// isReserved says whether the system keeps the whole name for itself.
func isReserved(string) bool { return false }
