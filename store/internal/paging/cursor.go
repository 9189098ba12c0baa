package paging

import (
	"strings"

	"gocloud.dev/blob/driver"
)

// Cursor says which keys of a walk are asked for.
type Cursor struct {
	Prefix string // only keys that begin with it
	After  string // only keys beyond it
	Skip   string // no keys that begin with it, unless ""; the consumer may set it between two objects
}

// newCursor resumes after the last entry of the page before, which the token tells.
func newCursor(opts *driver.ListOptions) *Cursor {
	c := &Cursor{Prefix: opts.Prefix}
	if token := string(opts.PageToken); token != "" {
		c.After = token[1:]
		if token[0] == 'd' {
			c.Skip = c.After
		}
	}
	return c
}

// tokenOf is the key of an entry with a mark in front for a directory.
func tokenOf(o *driver.ListObject) []byte {
	mark := "f"
	if o.IsDir {
		mark = "d"
	}
	return []byte(mark + o.Key)
}

// Wants says whether key may belong to the listing or, for a directory, whose key ends in "/", anything below it.
func (c *Cursor) Wants(key string, isDir bool) bool {
	if c.Skip != "" && strings.HasPrefix(key, c.Skip) {
		return false
	}
	if !isDir {
		return strings.HasPrefix(key, c.Prefix) && key > c.After
	}
	if !strings.HasPrefix(key, c.Prefix) && !strings.HasPrefix(c.Prefix, key) {
		return false
	}
	return key > c.After || strings.HasPrefix(c.After, key)
}
