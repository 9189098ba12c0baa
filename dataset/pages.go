package dataset

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Page headers are looked for in windows of these sizes: most are short, but
// one with statistics may hold long strings.
const (
	headerWindow    = 512
	maxHeaderWindow = 16 << 20
)

// pages reads the pages of one column chunk in order.
type pages struct {
	file    *blockFile
	at, end int64 // in the file
	codec   *decompressor
	scratch []byte // a page as stored, where it spans blocks
	plain   []byte // a page uncompressed
}

// next reads a page. What it returns is valid until the call after. ok is false
// at the end of the chunk.
func (p *pages) next() (h pageHeader, body []byte, ok bool, err error) {
	if p.at >= p.end {
		return h, nil, false, nil
	}
	h, length, err := p.header()
	if err != nil {
		return h, nil, false, err
	}
	p.at += int64(length)
	if int64(h.compressed) > p.end-p.at {
		return h, nil, false, fmt.Errorf("a page of %d bytes, %d before the end of its column", h.compressed, p.end-p.at)
	}
	stored, err := p.bytes(p.at, int(h.compressed))
	if err != nil {
		return h, nil, false, err
	}
	p.at += int64(h.compressed)
	if h.hasCRC && p.file.sums == nil && crc32.ChecksumIEEE(stored) != uint32(h.crc) {
		return h, nil, false, fmt.Errorf("%w: the page at byte %d", errChecksum, p.at-int64(h.compressed))
	}
	body, err = p.uncompress(h, stored)
	return h, body, err == nil, err
}

func (p *pages) header() (pageHeader, int, error) {
	for window := int64(headerWindow); ; window *= 32 {
		view, err := p.bytes(p.at, int(min(window, p.end-p.at)))
		if err != nil {
			return pageHeader{}, 0, err
		}
		h, length, err := readPageHeader(view)
		if !errors.Is(err, errThriftShort) || int64(len(view)) == p.end-p.at || window >= maxHeaderWindow {
			if err != nil {
				err = fmt.Errorf("page header at byte %d: %w", p.at, err)
			}
			return h, length, err
		}
	}
}

// bytes views n bytes of the file, which lie within it.
func (p *pages) bytes(offset int64, n int) (view []byte, err error) {
	view, p.scratch, err = p.file.view(offset, n, p.scratch)
	return view, err
}

// uncompress undoes the codec. Levels of version 2 stand uncompressed before
// the values.
func (p *pages) uncompress(h pageHeader, stored []byte) ([]byte, error) {
	levels := 0
	if h.kind == pageDataV2 {
		levels = int(h.defBytes) + int(h.repBytes)
	}
	size := int(h.uncompressed)
	if p.codec.codec == codecNone || h.kind == pageDataV2 && h.stored || h.kind == pageIndex {
		if len(stored) != size && h.kind != pageIndex {
			return nil, fmt.Errorf("a page of %d bytes, its header says %d", len(stored), size)
		}
		return stored, nil
	}
	if levels == 0 {
		if size == 0 {
			return nil, nil
		}
		out, err := p.codec.decode(p.plain, stored, size)
		p.plain = out[:0:cap(out)]
		return out, err
	}
	values := []byte(nil)
	if size > levels && len(stored) > levels {
		var err error
		if values, err = p.codec.decode(p.plain, stored[levels:], size-levels); err != nil {
			return nil, err
		}
		p.plain = values[:0:cap(values)]
	}
	return append(append(make([]byte, 0, size), stored[:levels]...), values...), nil
}
