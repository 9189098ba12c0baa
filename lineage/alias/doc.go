// Package alias keeps names such as prod or best for runs and artifacts, as objects that are created once:
//
//	heirloom/aliases/<name>/<%020d>    what the alias means from then on; the highest number counts
//
// To create the next number exclusively is the compare-and-swap, and the objects before it are the history. What is
// removed is a number that means nothing.
package alias
