package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
	"github.com/heirloom-ml/heirloom/store/internal/syncjournal"
)

func (y *Sync) local(rel string) string { return filepath.Join(y.dir, filepath.FromSlash(rel)) }

// sendUnit reads what is new of a unit, and sends it in the order of the ranks.
func (p *syncPass) sendUnit(ctx context.Context, u *syncUnit) {
	p.each(ctx, u.items, p.read)
	p.guardMarks(ctx, u)
	p.claim(ctx, u)
	for rank := range rankPointer {
		p.sendRank(ctx, u.items, rank)
	}
}

// sendRank sends the items of one rank that were read. A mark waits while
// anything it covers does.
func (p *syncPass) sendRank(ctx context.Context, items []*syncItem, rank int) {
	var list []*syncItem
	for _, item := range items {
		if item.rank() != rank || item.sent || item.busy {
			continue
		}
		if missing := p.missing(item); missing != "" {
			p.wait(item, "it stands for "+missing+", which is not sent")
			continue
		}
		if item.digest == "" { // a pointer's unit was the rest, and may be stopped
			p.each(ctx, []*syncItem{item}, p.read)
		}
		list = append(list, item)
	}
	p.each(ctx, list, p.send)
}

// missing names a file that a mark covers and that the store does not have yet.
func (p *syncPass) missing(item *syncItem) string {
	if item.mark == nil {
		return ""
	}
	for _, other := range p.below(path.Dir(item.path)) {
		if !other.sent && other != item && other.rank() <= item.rank() && item.mark.covers(other.path) {
			return other.path
		}
	}
	return ""
}

// below gives the items below a directory.
func (p *syncPass) below(dir string) []*syncItem {
	if dir == "." {
		return p.items
	}
	// In the order of a walk a directory is one stretch.
	first := sort.Search(len(p.items), func(i int) bool { return !walkLess(p.items[i].path, dir+"/") })
	last := first
	for last < len(p.items) && strings.HasPrefix(p.items[last].path, dir+"/") {
		last++
	}
	return p.items[first:last]
}

// walkLess is the order of a walk: by elements.
func walkLess(a, b string) bool {
	return strings.ReplaceAll(a, "/", "\x00") < strings.ReplaceAll(b, "/", "\x00")
}

// read finds out what bytes an item has, and whether the store has them.
func (p *syncPass) read(ctx context.Context, item *syncItem) {
	if item.digest == "" {
		err := p.hash(ctx, item)
		p.checked(item, -1)
		switch {
		case errors.Is(err, errChanged), errors.Is(err, fs.ErrNotExist):
			p.wait(item, "it changed while it was read")
			return
		case ctx.Err() != nil:
			return
		case err != nil:
			p.fail(item, p.wrapFile(item.path, err))
			return
		}
	}
	found := p.holds(item)
	if !found {
		var err error
		if found, err = p.compare(ctx, item); err != nil && ctx.Err() == nil {
			p.fail(item, err)
			return
		}
	}
	if item.sent = found; found {
		p.unexpect(item)
		return
	}
	_ = p.journal.Put(p.record(item))
}

// coarseTick is that of the coarsest clock of a file system. What was changed
// within one may change once more and look the same; it is read again.
const coarseTick = 2 * time.Second

// hash reads an item to its end.
func (p *syncPass) hash(ctx context.Context, item *syncItem) error {
	f, id, err := settle.Open(p.local(item.path))
	if err != nil {
		return err
	}
	defer f.Close()
	if item.id != id {
		if !p.final {
			return errChanged
		}
		item.id = id
	}
	begun := time.Now() // the clock of the files, whatever the Sync's is
	sum, crc := sha256.New(), crc32.New(crc32.MakeTable(crc32.Castagnoli))
	src := &fileSource{f: f, id: id, left: id.Size}
	if _, err := io.CopyBuffer(io.MultiWriter(sum, crc), readFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := src.Read(b)
		p.checked(item, int64(n))
		return n, err
	}), make([]byte, 256<<10)); err != nil {
		return err
	}
	if err := src.unchanged(); err != nil {
		return err
	}
	item.digest, item.crc = DigestFrom(sum), crc.Sum32()
	item.young = begun.Sub(time.Unix(0, item.newest())) < coarseTick
	return nil
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// compare asks for the bytes of an object of the right size of which nothing is
// noted: a process that was killed may have sent it. A small one is sent anew.
func (p *syncPass) compare(ctx context.Context, item *syncItem) (bool, error) {
	obj, there := p.objects[p.key(item.path)]
	if !there || obj.Size != item.id.Size || obj.Size <= smallBody {
		return false, nil
	}
	rec, _ := p.journal.Get(item.path)
	if rec.Sent && rec.Version == obj.Version {
		return false, nil // those bytes are known, and others
	}
	r, err := p.store.OpenRange(ctx, obj.Key, 0, -1, obj.Version)
	if err != nil {
		return false, err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return false, err
	}
	if DigestFrom(sum) != item.digest {
		return false, nil
	}
	p.noteSent(item, obj.Version)
	return true, nil
}

func (p *syncPass) send(ctx context.Context, item *syncItem) {
	if item.digest == "" {
		return
	}
	obj, err := p.put(ctx, item)
	if err != nil {
		p.moving(item, -item.share.moved)
	}
	if err == nil && obj.Version == "" {
		obj, err = p.store.Stat(ctx, obj.Key)
	}
	switch {
	case errors.Is(err, errChanged), errors.Is(err, fs.ErrNotExist):
		p.wait(item, "it changed while it was sent")
		return
	case err != nil && ctx.Err() != nil:
		return
	case err == nil && obj.Size != item.id.Size:
		err = &Error{Op: "sync", Key: string(obj.Key), Kind: ErrCorrupt, Err: errors.New("its size is not that of the file")}
	}
	if err != nil {
		p.fail(item, err)
		return
	}
	p.noteSent(item, obj.Version)
	p.lock.Lock()
	defer p.lock.Unlock()
	p.objects[obj.Key] = obj
	p.arrived(item)
	item.sent = true
	p.report.Uploaded++
	p.report.Bytes += item.id.Size
}

// put stores exactly the bytes that were hashed, or nothing.
func (p *syncPass) put(ctx context.Context, item *syncItem) (Object, error) {
	f, id, err := settle.Open(p.local(item.path))
	if err != nil {
		return Object{}, err
	}
	defer f.Close()
	if id != item.id {
		return Object{}, errChanged
	}
	if _, ok := p.store.back.(parted); ok && id.Size > smallBody {
		return p.putLong(ctx, item)
	}
	src := &fileSource{f: f, id: id, left: id.Size, sum: sha256.New(), want: item.digest}
	var r io.Reader = src
	if id.Size <= smallBody {
		body, err := io.ReadAll(src)
		if err != nil {
			return Object{}, err
		}
		r = bytes.NewReader(body)
	} else {
		src.read = func(n int) { p.moving(item, int64(n)) }
	}
	obj, err := p.store.PutFrom(ctx, p.key(item.path), r, id.Size)
	if err != nil && src.err != nil {
		err = src.err
	}
	return obj, err
}

// longFiles are sent at once, each in so many parts at once.
const (
	longFiles = 2
	longParts = 4
)

// putLong sends a file in parts, of which a later process need not send again
// those that arrived.
func (p *syncPass) putLong(ctx context.Context, item *syncItem) (Object, error) {
	select {
	case p.long <- struct{}{}:
		defer func() { <-p.long }()
	case <-ctx.Done():
		return Object{}, ctx.Err()
	}
	t, err := p.store.Upload(ctx, p.local(item.path), p.key(item.path), &TransferOptions{
		Parallel: min(longParts, p.parallel()), PartSize: p.opts.PartSize, Memory: defaultMemory / longFiles,
		JournalDir: filepath.Join(p.state, "parts"), expect: &item.crc,
		Progress: func(now Progress) { p.moving(item, now.Bytes-item.share.moved) },
	})
	if errors.Is(err, ErrConflict) {
		err = errChanged
	}
	return t.Object, err
}

// fileSource reads a file that must stay as it is: the last byte is given out
// only when it is certain that all were those of one moment.
type fileSource struct {
	f    *os.File
	id   settle.Identity
	left int64
	sum  hash.Hash // nil is not to be checked
	want Digest
	read func(n int) // learns of bytes given out; nil is nobody
	err  error
}

func (s *fileSource) Read(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.f.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	if s.read != nil {
		s.read(n)
	}
	if s.sum != nil {
		s.sum.Write(b[:n])
	}
	switch {
	case errors.Is(err, io.EOF): // shorter than it was
		s.err = errChanged
	case err != nil:
		s.err = err
	case s.left == 0:
		s.err = s.unchanged()
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, nil
}

// unchanged is errChanged if the file is not what it was when it was opened.
func (s *fileSource) unchanged() error {
	info, err := s.f.Stat()
	if err != nil {
		return err
	}
	now := settle.IdentityOf(info)
	if now != s.id || s.sum != nil && DigestFrom(s.sum) != s.want {
		return errChanged
	}
	return nil
}

// record is what the journal says of an item that was read.
func (p *syncPass) record(item *syncItem) syncjournal.Record {
	return syncjournal.Record{Path: item.path, Identity: item.id, Mode: uint32(item.mode), SHA256: string(item.digest), CRC32C: item.crc, Young: item.young}
}

func (p *syncPass) noteSent(item *syncItem, version string) {
	rec := p.record(item)
	rec.Sent, rec.Version = true, version
	_ = p.journal.Put(rec) // to be found out again, if it cannot be noted
}
