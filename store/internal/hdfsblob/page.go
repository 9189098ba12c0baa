package hdfsblob

import (
	"context"
	"strings"

	"gocloud.dev/blob/driver"
)

const defaultPage = 1000

// ListPaged implements driver.Bucket. A page costs the directories between it and the prefix, not the pages before it.
func (b *Bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	if opts.BeforeList != nil {
		if err := opts.BeforeList(noAs); err != nil {
			return nil, err
		}
	}
	p := newPager(ctx, opts)
	p.walker.run(b)
	return &p.page, p.err
}

// pager fills one page from a walk, folding keys with the delimiter into directories.
type pager struct {
	walker    *walker
	prefix    string
	delimiter string
	size      int
	page      driver.ListPage
	err       error
}

// newPager resumes after the last entry of the page before: its key, with a mark in front for a directory.
func newPager(ctx context.Context, opts *driver.ListOptions) *pager {
	p := &pager{prefix: opts.Prefix, delimiter: opts.Delimiter, size: opts.PageSize}
	if p.size == 0 {
		p.size = defaultPage
	}
	p.walker = &walker{ctx: ctx, prefix: opts.Prefix, yield: p.add}
	if token := string(opts.PageToken); token != "" {
		p.walker.after = token[1:]
		if token[0] == 'd' {
			p.walker.skip = token[1:]
		}
	}
	return p
}

func (p *pager) add(o Object, err error) bool {
	if err != nil {
		p.page, p.err = driver.ListPage{}, err
		return false
	}
	if len(p.page.Objects) == p.size {
		p.page.NextPageToken = tokenOf(p.page.Objects[p.size-1])
		return false
	}
	entry := p.fold(o)
	if entry.IsDir {
		p.walker.skip = entry.Key
	}
	p.page.Objects = append(p.page.Objects, entry)
	return true
}

func (p *pager) fold(o Object) *driver.ListObject {
	rest := o.Key[len(p.prefix):]
	if i := strings.Index(rest, p.delimiter); p.delimiter != "" && i >= 0 {
		return &driver.ListObject{Key: p.prefix + rest[:i+len(p.delimiter)], IsDir: true}
	}
	return &driver.ListObject{Key: o.Key, ModTime: o.ModTime, Size: o.Size}
}

func tokenOf(o *driver.ListObject) []byte {
	mark := "f"
	if o.IsDir {
		mark = "d"
	}
	return []byte(mark + o.Key)
}
