// Package heap gives the garbage collector nothing to do in a command that is soon over. Go collects for the first time at 3
// MB, of which what the libraries set up at start is more than half, and then at every few MB: most of what a short
// command computes would be that. Here the first collection comes at floor; from then on all is as usual.
//
// What the libraries set up, they set up before main: so it is the import of this package that counts, and its one variable
// is an exception to the rule that nothing runs at start. GOGC, where it is set, is obeyed instead; so is GOMEMLIMIT.
package heap

import (
	"runtime"
	"runtime/debug"
)

const (
	floor   = 64 << 20 // bytes, about which the first collection comes
	gosOwn  = 4 << 20  // the same at usual, see gcController.heapMinimum of package runtime
	usual   = 100      // GOGC where nobody has set it
	percent = usual * floor / gosOwn
)

var _ = raise()

// raise sets GOGC to percent, until the first collection. It tells what was found.
func raise() int {
	found := debug.SetGCPercent(percent)
	if found != usual {
		debug.SetGCPercent(found)
		return found
	}
	runtime.SetFinalizer(&canary{}, func(*canary) { debug.SetGCPercent(usual) })
	return found
}

// canary is held by nobody, so that the first collection finds it. It has a pointer, or it might share its memory with what
// lives on.
type canary struct{ _ *byte }
