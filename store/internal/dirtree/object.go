// Package dirtree is what gocloud drivers over a tree of directories have alike: how they describe objects and errors,
// walk from directory to directory in the order of keys, and read and write in gocloud's terms. A driver brings its own
// way to read one directory and to publish one object.
package dirtree

import "time"

// Object describes a stored object.
type Object struct {
	Key     string
	Size    int64 // bytes
	ModTime time.Time
	Version string // differs from that of other content under the key, as far as the driver can tell
}

// Mode says what a write does where the key exists.
type Mode int

const (
	// Replace puts the new object in place of the old.
	Replace Mode = iota
	// Create fails with fs.ErrExist and changes nothing.
	Create
)
