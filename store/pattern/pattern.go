// Package pattern keeps regular expressions that are compiled when they are first used: a command that is started thousands
// of times needs few of them.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is the regular expression that text writes. It is compiled in the first call, which panics if text writes none; all
// calls return the same. It is safe for concurrent use.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
