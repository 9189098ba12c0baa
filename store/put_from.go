package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"golang.org/x/sync/errgroup"
)

const (
	// smallBody is up to which size a stream is read into memory and sent at once.
	smallBody = 1 << 20
	// streamPart is the size of a stream's parts where the backend has no need of
	// longer ones: they are held in memory.
	streamPart  = 4 << 20
	streamParts = 4 // of one stream, sent at once
	// streamMemory is what all streams of a store may hold, where one part each
	// does not come to more.
	streamMemory = 32 << 20
	// partDoublings is how often the parts of a source of unknown length grow.
	partDoublings = 10
)

// PutFrom stores what r yields, in parts if it is long. It must be exactly size
// bytes, any number if size < 0; else the error is ErrInvalid and nothing is
// visible. Where the backend takes a long source as one stream, it is not tried
// again.
func (s *Store) PutFrom(ctx context.Context, key Key, r io.Reader, size int64) (Object, error) {
	full, err := s.full(key)
	if err != nil {
		return Object{}, s.wrap("put", string(key), err)
	}
	source := &exactReader{r: r, left: size, open: size < 0}
	obj, err := s.putSource(ctx, key, full, source, size)
	if source.err != nil {
		err = s.wrap("put", string(key), source.err) // why the backend gave up
	}
	obj.Key = key
	return obj, err
}

func (s *Store) putSource(ctx context.Context, key Key, full string, source *exactReader, size int64) (Object, error) {
	if size >= 0 && size <= smallBody {
		body, _, err := readPart(nil, source, smallBody+1) // to see one that is longer
		if err != nil {
			return Object{}, s.wrap("put", string(key), err)
		}
		return s.writeBody(ctx, "put", key, full, body, condition{})
	}
	back, ok := s.back.(parted)
	if !ok {
		return s.stream(ctx, key, full, source, condition{})
	}
	return s.putParts(ctx, s.newLongWrite(back, key, full, false), source, partSizes(back, size))
}

// partSizes tells how long part n of a source of size bytes is to be, or of an
// unknown number if size < 0. Where the number of parts is limited, those of the
// latter begin short and grow: most sources end early, and each part is held in
// memory.
func partSizes(back parted, size int64) func(n int) int {
	if size >= 0 {
		same := int(back.partSize(size, streamPart))
		return func(int) int { return same }
	}
	first, every := int(back.partSize(size, 0)), math.MaxInt
	if limited, ok := back.(partLimited); ok {
		every = limited.partsAtMost() / partDoublings
	}
	return func(n int) int { return first << min(n/every, partDoublings-1) }
}

// stream hands a source to a backend that wants it whole.
func (s *Store) stream(ctx context.Context, key Key, full string, source io.Reader, cond condition) (Object, error) {
	back, ok := s.back.(streamer)
	if !ok {
		return Object{}, s.wrap("put", string(key), ErrUnsupported)
	}
	send := func(ctx context.Context, bytes int64, again bool, request func(context.Context) error) error {
		r := Request{Op: requestOp(cond), Key: string(key), Bytes: bytes}
		do := func(ctx context.Context) error { return cond.refused(request(ctx)) }
		if !again {
			return s.attempt(ctx, r, do)
		}
		_, err := s.do(ctx, r, do)
		return err
	}
	obj, err := back.stream(ctx, full, source, cond.absent, send)
	return obj, s.wrap("put", string(key), err)
}

// putParts sends a source in parts of these sizes, several at once.
func (s *Store) putParts(ctx context.Context, w *longWrite, source io.Reader, sizes func(n int) int) (Object, error) {
	first, last, err := readPart(nil, source, sizes(0))
	if err != nil {
		return Object{}, s.wrap("put", string(w.key), err)
	}
	if last {
		return s.writeBody(ctx, "put", w.key, w.full, first, condition{})
	}
	var obj Object
	if err = w.begin(ctx); err == nil {
		err = w.sendStream(ctx, first, source, sizes)
	}
	if err == nil {
		obj, err = w.complete(ctx)
	}
	if err != nil {
		return Object{}, errors.Join(s.wrap("put", string(w.key), err), w.abort(ctx))
	}
	w.dropLost(ctx)
	return obj, nil
}

// sendStream reads one part after the other while others are on their way.
func (w *longWrite) sendStream(ctx context.Context, body []byte, r io.Reader, sizes func(n int) int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	buffers := newPartBuffers(&w.store.streams, sizes(0))
	defer buffers.release()
	readErr := error(nil)
	offset := int64(0)
	for n, last := 0, false; len(body) > 0 && groupCtx.Err() == nil; n++ {
		sent, at := body, offset
		offset += int64(len(body))
		group.Go(func() error {
			defer func() { buffers.free <- sent }()
			section := io.NewSectionReader(bytes.NewReader(sent), 0, int64(len(sent)))
			_, err := w.send(groupCtx, n, at, section, func() (uint32, error) { return crc32c(sent), nil })
			return err
		})
		if last {
			break
		}
		size := sizes(n + 1)
		if body, last, readErr = readPart(buffers.next(size), r, size); readErr != nil {
			break
		}
	}
	sendErr := group.Wait()
	if sendErr == nil {
		sendErr = ctx.Err()
	}
	if readErr != nil {
		return readErr
	}
	return sendErr
}

// readPart reads up to size bytes into buffer, which may be nil and grows; last
// says that r has no more.
func readPart(buffer []byte, r io.Reader, size int) (body []byte, last bool, err error) {
	body = buffer[:0]
	for len(body) < size {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, nextCap(cap(body), size)), body...)
		}
		n, err := io.ReadFull(r, body[len(body):min(cap(body), size)])
		body = body[:len(body)+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return body, true, nil
		}
		if err != nil {
			return body, false, err
		}
	}
	return body, false, nil
}

// nextCap goes from nothing over a small body to a whole part, which leaves
// little behind.
func nextCap(have, size int) int {
	if have == 0 {
		return min(smallBody, size)
	}
	return size
}
