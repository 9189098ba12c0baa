// Package paging cuts a sorted walk over a tree into the pages that a gocloud driver.Bucket lists.
package paging

import (
	"cmp"
	"iter"
	"strings"

	"gocloud.dev/blob/driver"
)

const defaultSize = 1000

// Fill makes the page that opts ask for, folding keys with the delimiter into directories. The walk visits what the
// cursor wants, sorted bytewise by key; an error ends it. A page costs the directories between it and the prefix, not
// the pages before it.
func Fill[O any](opts *driver.ListOptions, walk func(*Cursor) iter.Seq2[O, error], listed func(O) *driver.ListObject) (*driver.ListPage, error) {
	if opts.BeforeList != nil {
		if err := opts.BeforeList(func(any) bool { return false }); err != nil {
			return nil, err
		}
	}
	var page driver.ListPage
	size := cmp.Or(opts.PageSize, defaultSize)
	cursor := newCursor(opts)
	for o, err := range walk(cursor) {
		if err != nil {
			return nil, err
		}
		if len(page.Objects) == size {
			page.NextPageToken = tokenOf(page.Objects[size-1])
			break
		}
		entry := fold(listed(o), opts)
		if entry.IsDir {
			cursor.Skip = entry.Key
		}
		page.Objects = append(page.Objects, entry)
	}
	return &page, nil
}

// fold gives the directory that stands for o, or o itself.
func fold(o *driver.ListObject, opts *driver.ListOptions) *driver.ListObject {
	rest := o.Key[len(opts.Prefix):]
	if i := strings.Index(rest, opts.Delimiter); opts.Delimiter != "" && i >= 0 {
		return &driver.ListObject{Key: opts.Prefix + rest[:i+len(opts.Delimiter)], IsDir: true}
	}
	return o
}
