package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
)

// maxRestarts is how often a file is sent anew because the far side has
// forgotten its upload.
const maxRestarts = 2

// Upload stores the local regular file at path under key, in parts if it is
// long, several at once. Nothing is visible before all has arrived. The file must
// stay as it is meanwhile, else the error is ErrConflict; a link, a pipe, a
// device or a directory is ErrInvalid. With opts.Create it is ErrExist if there
// is an object of that key, and of several at once exactly one succeeds.
//
// Where an upload with a journal fails or is killed, the same call sends what is
// missing. Without one, what was sent is given up. opts may be nil.
func (s *Store) Upload(ctx context.Context, path string, key Key, opts *TransferOptions) (Transferred, error) {
	if _, err := s.full(key); err != nil {
		return Transferred{}, s.wrap("upload", string(key), err)
	}
	src, err := openSource(path)
	if err != nil {
		return Transferred{}, s.wrap("upload", path, err)
	}
	defer src.close()
	m, ctx := s.newMover(ctx, "upload", opts)
	defer m.meter.finish()
	m.meter.expect(1, src.size)
	m.dropOldJournals(ctx)
	return m.upload(ctx, src, key)
}

// upload stores one file.
func (m *mover) upload(ctx context.Context, src *source, key Key) (Transferred, error) {
	full, err := m.store.full(key)
	if err != nil {
		return Transferred{}, m.failed(string(key), err)
	}
	var t Transferred
	back, ok := m.store.back.(parted)
	switch {
	case ok && src.size > back.partSize(src.size, m.opts.PartSize):
		t, err = m.uploadLong(ctx, back, src, key, full)
	case ok || src.size <= smallBody:
		t, err = m.uploadSmall(ctx, src, key, full)
	default:
		t, err = m.uploadStream(ctx, src, key, full)
	}
	if err != nil {
		if changed := src.check(); changed != nil {
			err = changed // which is why
		}
		return Transferred{}, m.failed(string(key), err)
	}
	m.meter.fileDone()
	return t, nil
}

// uploadSmall sends a file in one request.
func (m *mover) uploadSmall(ctx context.Context, src *source, key Key, full string) (t Transferred, err error) {
	err = m.holding(ctx, src.size, func() error {
		body, done := m.bodyOf(src.size)
		defer done()
		if err := errors.Join(src.read(body, 0), src.check()); err != nil {
			return err
		}
		t.CRC32C = crc32c(body)
		if err := m.expected(src, t.CRC32C); err != nil {
			return err
		}
		return m.at(ctx, 1, func() (err error) {
			t.Object, err = m.store.writeBody(ctx, "upload", key, full, body, condition{absent: m.opts.Create})
			return err
		})
	})
	if err == nil {
		m.meter.moved(src.size)
	}
	return t, err
}

// bodyOf is room for the bytes of a file, and what to do when nothing reads them
// any more. A connection may read a body when its request has long been answered,
// so that only what goes to a local disk is used again.
func (m *mover) bodyOf(size int64) (body []byte, done func()) {
	if size > reusedAtMost || m.store.place.scheme != "file" {
		return make([]byte, size), func() {}
	}
	room := m.bodies.Get().(*[]byte)
	return (*room)[:size], func() { m.bodies.Put(room) }
}

// uploadStream sends a file to a backend that takes no parts.
func (m *mover) uploadStream(ctx context.Context, src *source, key Key, full string) (t Transferred, err error) {
	sum := &crcWriter{}
	body := io.TeeReader(io.NewSectionReader(src.file, 0, src.size), sum)
	err = m.at(ctx, m.wide, func() (err error) {
		exact := &exactReader{r: &checkedSource{src, body}, left: src.size}
		t.Object, err = m.store.stream(ctx, key, full, exact, condition{absent: m.opts.Create})
		return err
	})
	t.Key, t.CRC32C = key, sum.crc
	m.meter.moved(src.size)
	return t, err
}

// checkedSource looks after the file at each read, so that a changed one fails
// before its last byte.
type checkedSource struct {
	src *source
	r   io.Reader
}

func (c *checkedSource) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if changed := c.src.check(); changed != nil {
		return 0, changed
	}
	return n, err
}

// uploadLong sends a file in parts, anew where the far side has forgotten those
// of an earlier try.
func (m *mover) uploadLong(ctx context.Context, back parted, src *source, key Key, full string) (Transferred, error) {
	notes, err := m.openUploadNotes(src, key)
	if err != nil {
		return Transferred{}, err
	}
	defer notes.close()
	for try := 0; ; try++ {
		u := &uploadOf{mover: m, src: src, notes: notes, write: m.store.newLongWrite(back, key, full, m.opts.Create)}
		u.size = back.partSize(src.size, m.opts.PartSize)
		t, err := u.run(ctx)
		if err == nil || !isNotExist(err) || u.write.token == "" || try == maxRestarts {
			return t, errors.Join(err, u.end(ctx, err))
		}
		m.meter.restart(u.arrived, u.resumed)
		if err := errors.Join(u.write.abort(ctx), notes.clear()); err != nil {
			return Transferred{}, err
		}
	}
}

// uploadOf is one file on its way in parts.
type uploadOf struct {
	mover *mover
	src   *source
	notes *uploadNotes
	write *longWrite
	size  int64 // of a part, in bytes
	noted map[int]part

	tally
}

// run sends what is missing and publishes the object.
func (u *uploadOf) run(ctx context.Context) (Transferred, error) {
	if err := u.begin(ctx); err != nil {
		return Transferred{}, err
	}
	if err := u.sendAll(ctx); err != nil {
		return Transferred{}, err
	}
	if err := u.src.check(); err != nil {
		return Transferred{}, err
	}
	list, err := u.write.inOrder()
	if err != nil {
		return Transferred{}, err
	}
	crc, _ := crcOfParts(list)
	if err := u.mover.expected(u.src, crc); err != nil {
		return Transferred{}, err
	}
	obj, err := u.write.complete(ctx)
	if err != nil {
		return Transferred{}, err
	}
	t := Transferred{Object: obj, CRC32C: crc, Resumed: u.resumed}
	return t, u.mover.verify(ctx, t)
}

// begin goes on with the upload of the notes, or begins one.
func (u *uploadOf) begin(ctx context.Context) error {
	if u.noted = u.notes.resume(u.write, &u.size); u.noted != nil {
		return nil
	}
	if err := u.notes.dropOld(ctx, u.write); err != nil {
		return err
	}
	if err := u.write.begin(ctx); err != nil {
		return err
	}
	return u.notes.begun(u.write, u.size)
}

func (u *uploadOf) sendAll(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(u.mover.wideAtOnce())
	for n := range int((u.src.size + u.size - 1) / u.size) {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			return u.mover.at(groupCtx, u.mover.wide, func() error { return u.sendPart(groupCtx, n) })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// sendPart sends part n unless an earlier try did.
func (u *uploadOf) sendPart(ctx context.Context, n int) error {
	body, offset := u.src.section(n, u.size), int64(n)*u.size
	sum := sync.OnceValues(func() (uint32, error) {
		buffer := u.mover.copies.Get().(*[]byte)
		defer u.mover.copies.Put(buffer)
		return u.src.crc(offset, body.Size(), *buffer)
	})
	if noted, ok := u.noted[n]; ok {
		if there, err := u.isThere(ctx, n, noted, sum); there || err != nil {
			return err
		}
	}
	p, err := u.write.send(ctx, n, offset, body, sum)
	if err != nil {
		return err
	}
	u.add(p.size, false)
	u.mover.meter.moved(p.size)
	return errors.Join(u.src.check(), u.notes.arrived(n, p))
}

// isThere reports whether a part that an earlier try noted is of the file as it
// is now, and still where it was sent.
func (u *uploadOf) isThere(ctx context.Context, n int, p part, sum func() (uint32, error)) (bool, error) {
	crc, err := sum()
	if err != nil || crc != p.crc || p.size != u.src.section(n, u.size).Size() {
		return false, err
	}
	if keeper, ok := u.write.back.(partKeeper); ok {
		if whole, err := keeper.holds(ctx, u.write.full, u.write.token, n, int64(n)*u.size, p); !whole || err != nil {
			return false, err
		}
	}
	u.write.add(n, p)
	u.add(p.size, true)
	u.mover.meter.resumed(p.size)
	return true, nil
}

// end keeps what was sent for a later try where that can help, and gives it up
// elsewhere.
func (u *uploadOf) end(ctx context.Context, err error) error {
	u.write.dropLost(ctx)
	switch {
	case err == nil:
		return u.notes.remove()
	case u.notes.kept() && (isEnded(err) || ctx.Err() != nil || errors.Is(err, ErrUnavailable)):
		return nil
	}
	return errors.Join(u.write.abort(ctx), u.notes.remove())
}

// expected is ErrConflict if the file is not the one that the caller meant.
func (m *mover) expected(src *source, crc uint32) error {
	if m.opts.expect != nil && *m.opts.expect != crc {
		return src.changed("the file changed before it was read")
	}
	return nil
}

// verify compares the checksum of what was stored, where the far side knows it.
func (m *mover) verify(ctx context.Context, t Transferred) error {
	crc, known, err := m.store.checksum(ctx, t.Object)
	switch {
	case errors.Is(err, ErrConflict) || isNotExist(err):
		return nil // replaced since
	case err != nil:
		return err
	case known && crc != t.CRC32C:
		return &Error{Op: m.op, Key: string(t.Key), Kind: ErrCorrupt, Err: fmt.Errorf("its checksum is %08x, not %08x", crc, t.CRC32C)}
	}
	return nil
}

// checksum is the CRC-32C of a version of an object, where the far side knows.
func (s *Store) checksum(ctx context.Context, obj Object) (crc uint32, known bool, err error) {
	back, ok := s.back.(summed)
	if !ok || obj.Version == "" {
		return 0, false, nil
	}
	full, err := s.full(obj.Key)
	if err != nil {
		return 0, false, err
	}
	_, err = s.do(ctx, Request{Op: "stat", Key: string(obj.Key)}, func(ctx context.Context) (err error) {
		crc, known, err = back.checksum(ctx, full, obj.Version)
		return err
	})
	return crc, known, err
}
