package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs (parquet.thrift, CompressionCodec).
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // framed as Hadoop does, or not: writers disagree
	codecZstd   = 6
	codecLZ4Raw = 7
)

// plausibleBytes is what is allocated on the word of a page header alone.
const plausibleBytes = 16 << 20

// decompressor undoes one codec. It is not safe for concurrent use.
type decompressor struct {
	codec int
	zstd  *zstd.Decoder
	gzip  *gzip.Reader
}

func newDecompressor(codec int) (*decompressor, error) {
	d := &decompressor{codec: codec}
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecBrotli, codecLZ4Raw:
		return d, nil
	case codecZstd:
		// One goroutine's worth of state, and never more than the page may have.
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		d.zstd = decoder
		return d, err
	case codecLZ4:
		return nil, unread("compression LZ4 in Hadoop's frames (LZ4_RAW is read)")
	case codecLZO:
		return nil, unread("compression LZO")
	}
	return nil, unread(fmt.Sprintf("compression codec %d, which this program does not know", codec))
}

func (d *decompressor) close() {
	if d != nil && d.zstd != nil {
		d.zstd.Close()
	}
}

// decode uncompresses src, which becomes exactly size bytes, into buffer if it
// has the room.
func (d *decompressor) decode(buffer, src []byte, size int) ([]byte, error) {
	if size > plausibleBytes && size > cap(buffer) && d.codec != codecNone {
		if err := d.plausible(src, size); err != nil {
			return nil, err
		}
	}
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	out, err := d.into(buffer[:size:size], src)
	if err == nil && len(out) != size {
		err = fmt.Errorf("a page uncompresses to %d bytes, its header says %d", len(out), size)
	}
	return out, err
}

// plausible looks whether src really becomes so long, without the memory.
func (d *decompressor) plausible(src []byte, size int) error {
	var r io.Reader
	switch d.codec {
	case codecZstd:
		decoder, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxPageBytes))
		if err != nil {
			return err
		}
		defer decoder.Close()
		r = decoder
	case codecGzip:
		decoder, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return err
		}
		r = decoder
	case codecBrotli:
		r = brotli.NewReader(bytes.NewReader(src))
	default: // Snappy and LZ4 cannot expand more
		if size/256 > len(src) {
			return fmt.Errorf("%d bytes cannot uncompress to %d", len(src), size)
		}
		return nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, int64(size)+1))
	if err == nil && n != int64(size) {
		err = fmt.Errorf("a page uncompresses to %d bytes, its header says %d", n, size)
	}
	return err
}

// into uncompresses src into to, whose length is what is expected.
func (d *decompressor) into(to, src []byte) ([]byte, error) {
	switch d.codec {
	case codecSnappy:
		n, err := snappy.DecodedLen(src)
		if err == nil && n != len(to) {
			err = fmt.Errorf("a page uncompresses to %d bytes, its header says %d", n, len(to))
		}
		if err != nil {
			return nil, err
		}
		return snappy.Decode(to, src)
	case codecGzip:
		return d.gunzip(to, src)
	case codecBrotli:
		return fill(to, brotli.NewReader(bytes.NewReader(src)))
	case codecZstd:
		return d.zstd.DecodeAll(src, to[:0])
	case codecLZ4Raw:
		n, err := lz4.UncompressBlock(src, to)
		if err != nil {
			return nil, err
		}
		return to[:n], nil
	default:
		return src, nil
	}
}

func (d *decompressor) gunzip(to, src []byte) (_ []byte, err error) {
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(bytes.NewReader(src))
	} else {
		err = d.gzip.Reset(bytes.NewReader(src))
	}
	if err != nil {
		return nil, err
	}
	return fill(to, d.gzip)
}

// fill reads as much as to takes. What r has beyond it is an error, and so is a
// checksum at its end that does not match.
func fill(to []byte, r io.Reader) ([]byte, error) {
	n, err := io.ReadFull(r, to)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if n < len(to) {
		return to[:n], nil
	}
	var more [1]byte
	extra, err := r.Read(more[:])
	if extra > 0 {
		return nil, fmt.Errorf("a page goes on after the %d bytes of its header", len(to))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return to, nil
}
