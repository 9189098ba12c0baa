package hdfsblob

import (
	"context"
	"errors"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"
)

const (
	// maxPart is the size of a part of a long stream, which is held in memory until it is written, and becomes a block.
	maxPart     = 32 << 20
	partBuffers = 2
	firstBuffer = 1 << 20 // bytes; it grows with the part
)

// Send makes one request of a streamed write: it calls do, again if that fails and again allows it. bytes is what the
// request carries. It may be called from several goroutines.
type Send func(ctx context.Context, bytes int64, again bool, do func(ctx context.Context) error) error

// PutStream replaces the object at key by all that r yields, or changes nothing if reading r fails. What is longer than
// a part goes into files of its own, each of which can be written again where a DataNode or a NameNode is lost, which
// the library does not survive within one file; at last the NameNode joins them and the whole gets its name.
func (b *Bucket) PutStream(ctx context.Context, key string, r io.Reader, send Send) (Object, error) {
	s := &stream{bucket: b, key: key, send: send}
	err := s.writeParts(ctx, r)
	var made Object
	if err == nil {
		made, err = s.join(ctx)
	}
	if err != nil {
		s.drop(ctx)
		return Object{}, err
	}
	made.Key = key
	return made, nil
}

// drop takes back the parts that were written.
func (s *stream) drop(ctx context.Context) {
	for _, p := range s.parts {
		if p.temp != "" {
			s.bucket.removeTemp(ctx, p.temp)
		}
	}
}

// stream is one long write.
type stream struct {
	bucket *Bucket
	key    string
	send   Send
	parts  []*part // in order
}

// part is a closed temporary file.
type part struct {
	temp string
	made Object
}

// writeParts reads one part while the one before is written.
func (s *stream) writeParts(ctx context.Context, r io.Reader) error {
	group, ctx := errgroup.WithContext(ctx)
	free := make(chan []byte, partBuffers)
	for range partBuffers {
		free <- nil
	}
	err := s.readParts(ctx, r, free, func(p *part, body []byte) {
		group.Go(func() error {
			defer func() { free <- body }()
			return s.send(ctx, int64(len(body)), true, func(ctx context.Context) error { return s.writePart(ctx, p, body) })
		})
	})
	failed := group.Wait()
	if failed != nil {
		return failed // which ended the reading
	}
	return err
}

// readParts hands over each part in turn, at least one, which is then the only one that may be empty.
func (s *stream) readParts(ctx context.Context, r io.Reader, free chan []byte, hand func(p *part, body []byte)) error {
	size, err := s.bucket.partSize(ctx)
	if err != nil {
		return err
	}
	for {
		var buffer []byte
		select {
		case <-ctx.Done():
			return ctx.Err()
		case buffer = <-free:
		}
		body, err := fill(r, buffer, int(size))
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		if len(body) > 0 || len(s.parts) == 0 {
			p := &part{}
			s.parts = append(s.parts, p)
			hand(p, body)
		}
		if last {
			return nil
		}
	}
}

// fill reads up to size bytes into buffer, which may be nil, from its beginning. The error is that of io.ReadFull.
func fill(r io.Reader, buffer []byte, size int) ([]byte, error) {
	if buffer == nil {
		buffer = make([]byte, 0, min(firstBuffer, size))
	}
	buffer = buffer[:0]
	for len(buffer) < size {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, min(len(buffer), size-len(buffer)))
		}
		n, err := io.ReadFull(r, buffer[len(buffer):min(cap(buffer), size)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			return buffer, err
		}
	}
	return buffer, nil
}

// partSize is that of a block, if that is not too much to hold.
func (b *Bucket) partSize(ctx context.Context) (int64, error) {
	d, err := b.newFile(ctx)
	return min(d.blockSize, maxPart), err
}

func (s *stream) writePart(ctx context.Context, p *part, body []byte) error {
	w, err := s.bucket.NewWriter(ctx, s.key)
	if err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return errors.Join(err, w.Abort())
	}
	p.made, err = w.finish()
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	w.done, p.temp = true, w.temp
	w.lease.end(nil)
	return nil
}

// join makes one file of the parts and gives it its name.
func (s *stream) join(ctx context.Context) (Object, error) {
	first := s.parts[0]
	var rest []string
	size := first.made.Size
	for _, p := range s.parts[1:] {
		rest = append(rest, p.temp)
		size += p.made.Size
	}
	err := s.send(ctx, 0, true, func(ctx context.Context) error { return s.bucket.concat(ctx, first, rest, size) })
	if err != nil {
		return Object{}, err
	}
	err = s.send(ctx, 0, true, func(ctx context.Context) error {
		return s.bucket.publish(ctx, first.made, first.temp, s.bucket.Path(s.key), Replace, "")
	})
	if err != nil {
		return Object{}, err
	}
	return first.made, nil
}

// concat joins rest to first unless an earlier try has, and looks at what came of it.
func (b *Bucket) concat(ctx context.Context, first *part, rest []string, size int64) error {
	if len(rest) == 0 && first.made.Version != "" {
		return nil
	}
	return b.with(ctx, "write", first.temp, func(c *client) error {
		now, err := c.statFile(first.temp)
		if err != nil {
			return err
		}
		if now.Size != size {
			if err := c.concat(first.temp, slices.Clone(rest)); err != nil {
				return err
			}
			if now, err = c.statFile(first.temp); err != nil {
				return err
			}
		}
		if now.Size != size {
			return ErrCorrupt
		}
		first.made = now
		return nil
	})
}
