package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store/internal/journal"
)

const (
	rangeSize    = 8 << 20 // of objects of usual size
	rangesAtMost = 4096    // of an object; longer ones have longer ranges
)

// downloadOf is one object on its way to a local file.
type downloadOf struct {
	mover *mover
	obj   Object // the version that is fetched
	root  *os.Root
	name  string // of the target, a slash path below root
	part  *partFile
	// inSequence is whether the target's file system takes a file only from front
	// to back.
	inSequence bool
	size       int64        // of a range, in bytes
	noted      map[int]part // ranges of an earlier try

	tally
	ranges []part // those that are there; each written by one goroutine
}

// rangeHead is the first note of a download; each further one is a partNote.
type rangeHead struct {
	Version string `json:"version"`
	Size    int64  `json:"size_bytes"`
	Range   int64  `json:"range_bytes"`
}

// download fetches an object, as a listing or Stat described it, to name below
// root, anew where it is replaced meanwhile.
func (m *mover) download(ctx context.Context, obj Object, root *os.Root, name string) (Transferred, error) {
	for try := 0; ; try++ {
		d := &downloadOf{mover: m, obj: obj, root: root, name: name, size: m.rangeOf(obj.Size), inSequence: m.inSequence.Load()}
		t, err := d.run(ctx)
		if err == nil {
			m.meter.fileDone()
			return t, nil
		}
		if !d.inSequence && refusesPlaces(err) {
			m.inSequence.Store(true)
			m.meter.restart(d.arrived, d.resumed)
			continue
		}
		if !errors.Is(err, ErrConflict) || try == maxRestarts {
			return Transferred{}, m.failed(string(obj.Key), err)
		}
		m.meter.restart(d.arrived, d.resumed)
		now, err := m.store.Stat(ctx, obj.Key)
		if err != nil {
			return Transferred{}, m.failed(string(obj.Key), err)
		}
		m.meter.expect(0, now.Size-obj.Size)
		obj = now
	}
}

func (m *mover) rangeOf(size int64) int64 {
	if m.opts.PartSize > 0 {
		return m.opts.PartSize
	}
	return max(rangeSize, (size/rangesAtMost+copyBuffer-1)/copyBuffer*copyBuffer)
}

func (d *downloadOf) run(ctx context.Context) (t Transferred, err error) {
	if err := d.begin(); err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, d.end(ctx, err)) }()
	switch {
	case d.short():
		err = d.fetchWhole(ctx)
	case d.inSequence:
		err = d.fetchInOrder(ctx)
	default:
		err = d.fetchRanges(ctx)
	}
	if err != nil {
		return t, err
	}
	crc, _ := crcOfParts(d.ranges)
	t = Transferred{Object: d.obj, CRC32C: crc, Resumed: d.resumed}
	if !d.short() {
		if err := d.mover.verify(ctx, t); err != nil {
			return t, err
		}
	}
	if d.inSequence {
		if err := d.part.closeFile(); err != nil { // which is when such a file system takes it
			return t, err
		}
	}
	return t, d.part.publish(d.name, d.mover.opts.Create)
}

// short says that the object is fetched in one request: the pieces of one
// without a version might not fit together.
func (d *downloadOf) short() bool { return d.obj.Size <= d.size || d.obj.Version == "" }

// begin opens the part file.
func (d *downloadOf) begin() error {
	there, err := d.root.Lstat(d.name)
	switch {
	case err == nil && there.IsDir():
		return invalid(fmt.Errorf("%s is a directory", d.name))
	case err == nil && d.mover.opts.Create:
		return fmt.Errorf("%s: %w", d.name, ErrExist)
	}
	dir := path.Dir(d.name)
	if err := d.root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	identity := d.mover.from + "\x00" + d.mover.store.prefix + string(d.obj.Key) + "\x00" + path.Base(d.name)
	open := openPart
	if d.inSequence {
		open = openPartInSequence
	}
	d.part, err = open(d.root, dir, identity)
	return err
}

// end keeps what was fetched for a later try where that can help and the caller
// wants it, and removes it elsewhere.
func (d *downloadOf) end(ctx context.Context, err error) error {
	wanted := d.mover.opts.JournalDir != "" && d.part.notes != nil
	if wanted && err != nil && (isEnded(err) || ctx.Err() != nil || errors.Is(err, ErrUnavailable)) {
		return d.part.close()
	}
	return errors.Join(d.part.drop(), d.part.close())
}

// fetchWhole fetches the object in one request, whichever version it has.
func (d *downloadOf) fetchWhole(ctx context.Context) error {
	places := 1
	if d.obj.Size > smallBody {
		places = d.mover.wide
	}
	return d.mover.at(ctx, places, func() error {
		r, err := d.mover.store.Open(ctx, d.obj.Key)
		if err != nil {
			return err
		}
		defer r.Close()
		d.mover.meter.expect(0, r.Object().Size-d.obj.Size)
		d.obj = r.Object()
		if !d.inSequence {
			if err := d.part.file.Truncate(0); err != nil {
				return err
			}
		}
		p, err := d.copy(r, d.part.file)
		if err == nil && p.size != d.obj.Size {
			err = &Error{Kind: ErrCorrupt, Err: fmt.Errorf("%d of %d bytes arrived", p.size, d.obj.Size)}
		}
		d.ranges = []part{p}
		return err
	})
}

// fetchRanges fetches what is missing of the object, several ranges at once.
func (d *downloadOf) fetchRanges(ctx context.Context) error {
	if err := d.resume(); err != nil {
		return err
	}
	d.ranges = make([]part, (d.obj.Size+d.size-1)/d.size)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(d.mover.wideAtOnce())
	for n := range d.ranges {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			return d.mover.at(groupCtx, d.mover.wide, func() error { return d.fetchRange(groupCtx, n) })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// resume takes up the notes of an earlier try if they are of this version, and
// makes room for the object.
func (d *downloadOf) resume() error {
	notes, records, err := journal.Open(d.root, d.part.name(notesEnd))
	if err != nil {
		return err
	}
	d.part.notes = notes
	head, parts := readNotes(records)
	if len(parts) > 0 && head.Version == d.obj.Version && head.Size == d.obj.Size && head.Range > 0 {
		d.size, d.noted = head.Range, parts
		return nil
	}
	if err := errors.Join(notes.Clear(), d.part.file.Truncate(0), hasRoom(d.part.file, d.obj.Size)); err != nil {
		return err
	}
	if err := reserve(d.part.file, d.obj.Size); err != nil {
		return err
	}
	return notes.Append(rangeHead{d.obj.Version, d.obj.Size, d.size})
}

func readNotes(records []json.RawMessage) (head rangeHead, parts map[int]part) {
	if len(records) == 0 || json.Unmarshal(records[0], &head) != nil {
		return rangeHead{}, nil
	}
	parts = map[int]part{}
	for _, record := range records[1:] {
		var p partNote
		if json.Unmarshal(record, &p) == nil {
			parts[p.N] = part{size: p.Size, crc: p.CRC32C}
		}
	}
	return head, parts
}

// fetchRange fetches range n unless an earlier try did.
func (d *downloadOf) fetchRange(ctx context.Context, n int) error {
	offset := int64(n) * d.size
	length := min(d.size, d.obj.Size-offset)
	if p, ok := d.noted[n]; ok && p.size == length && d.holds(offset, p) {
		d.ranges[n] = p
		d.add(length, true)
		d.mover.meter.resumed(length)
		return nil
	}
	p, err := d.fetch(ctx, offset, length, io.NewOffsetWriter(d.part.file, offset))
	if err != nil {
		return err
	}
	d.ranges[n] = p
	return d.part.notes.Append(partNote{N: n, Size: p.size, CRC32C: p.crc})
}

// fetch gives length bytes of the object from offset on to a writer.
func (d *downloadOf) fetch(ctx context.Context, offset, length int64, to io.WriterAt) (part, error) {
	r, err := d.mover.store.OpenRange(ctx, d.obj.Key, offset, length, d.obj.Version)
	if err != nil {
		return part{}, err
	}
	defer r.Close()
	p, err := d.copy(r, to)
	if err == nil && p.size != length {
		err = &Error{Kind: ErrCorrupt, Err: fmt.Errorf("%d of %d bytes arrived", p.size, length)}
	}
	return p, err
}

// holds reports whether the bytes that an earlier try noted are in the file.
func (d *downloadOf) holds(offset int64, p part) bool {
	buffer := d.mover.copies.Get().(*[]byte)
	defer d.mover.copies.Put(buffer)
	crc := uint32(0)
	for left := p.size; left > 0; {
		piece := (*buffer)[:min(int64(len(*buffer)), left)]
		if _, err := d.part.file.ReadAt(piece, offset); err != nil {
			return false
		}
		crc = addCRC(crc, piece)
		offset += int64(len(piece))
		left -= int64(len(piece))
	}
	return crc == p.crc
}

// copy writes all of r, from front to back.
func (d *downloadOf) copy(r io.Reader, to io.WriterAt) (p part, err error) {
	buffer := d.mover.copies.Get().(*[]byte)
	defer d.mover.copies.Put(buffer)
	for {
		n, err := io.ReadFull(r, *buffer)
		if n > 0 {
			if _, err := to.WriteAt((*buffer)[:n], p.size); err != nil {
				return p, err
			}
			p.crc = addCRC(p.crc, (*buffer)[:n])
			p.size += int64(n)
			d.add(int64(n), false)
			d.mover.meter.moved(int64(n))
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return p, nil
		}
		if err != nil {
			return p, err
		}
	}
}
