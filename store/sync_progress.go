package store

// syncShare is what the progress counts of one item.
type syncShare struct {
	size    int64 // expected to be moved; 0 with counted false
	unread  int64 // of its bytes, still to be read for the checksum
	moved   int64
	counted bool // among the files
}

// expect counts what is to be read and, for all that is known yet, to be sent.
func (p *syncPass) expect() {
	for _, item := range p.items {
		if item.sent || item.busy {
			continue
		}
		item.share = syncShare{size: item.id.Size, counted: true}
		p.meter.expect(1, item.share.size)
		if item.digest == "" {
			item.share.unread = item.id.Size
			p.meter.toCheck(item.share.unread)
		}
	}
}

// checked counts bytes of an item that were read, all that are left if n < 0.
func (p *syncPass) checked(item *syncItem, n int64) {
	if n < 0 || n > item.share.unread {
		n = item.share.unread // it may have grown meanwhile
	}
	item.share.unread -= n
	p.meter.checked(n)
}

// moving counts bytes of an item on their way.
func (p *syncPass) moving(item *syncItem, n int64) {
	item.share.moved += n
	p.meter.moved(n)
}

// arrived counts an item that was sent.
func (p *syncPass) arrived(item *syncItem) {
	p.meter.expect(0, item.id.Size-item.share.size)
	p.moving(item, item.id.Size-item.share.moved)
	p.meter.fileDone()
	item.share = syncShare{}
}

// unexpect takes back an item that is not to be sent, or not now.
func (p *syncPass) unexpect(item *syncItem) {
	if !item.share.counted {
		return
	}
	p.checked(item, -1)
	p.moving(item, -item.share.moved)
	p.meter.expect(-1, -item.share.size)
	item.share = syncShare{}
}
