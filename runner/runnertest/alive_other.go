//go:build !unix

package runnertest

// alive says no: here nothing is asked of it.
func alive(int) bool { return false }
