//go:build !windows

package localblob

// isUnsafe says whether the byte at i cannot stand in a file name, besides control characters.
func isUnsafe(string, int) bool { return false }

// isReserved says whether the system keeps the whole name for itself.
func isReserved(string) bool { return false }
