package intact

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

// checkZip wants the directory that stands at the end of a zip file.
func checkZip(f file) error {
	_, err := zip.NewReader(f.r, f.size)
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) {
		return incomplete("its directory is missing")
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return cut(err)
	}
	return nil
}

// The most that is unpacked to see the end of a gzip file, in bytes of it and of
// what it holds; a longer one is taken for whole.
const (
	maxPacked   = 64 << 20
	maxUnpacked = 1 << 30
)

func checkGzip(f file) error {
	if f.size > maxPacked {
		return nil
	}
	z, err := gzip.NewReader(bufio.NewReader(f.all()))
	if err == nil {
		_, err = io.CopyN(io.Discard, z, maxUnpacked)
	}
	switch bad := flate.CorruptInputError(0); {
	case err == nil, errors.Is(err, io.EOF) && z != nil:
		return nil
	case errors.Is(err, gzip.ErrHeader) && z != nil:
		return nil // padding behind the last member
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &bad):
		return incomplete("%v", err)
	}
	return cut(err)
}

const zstdMagic = "\x28\xb5\x2f\xfd"

// checkZstd walks the frames of RFC 8878 from header to header.
func checkZstd(f file) error {
	if f.size == 0 {
		return incomplete("it is empty")
	}
	for at := int64(0); at < f.size; {
		head, err := f.read(at, 4)
		if err != nil {
			return err
		}
		switch magic := binary.LittleEndian.Uint32(head); {
		case string(head) == zstdMagic:
			at, err = zstdFrame(f, at+4)
		case magic&^0xf == 0x184d2a50: // a frame to be skipped
			at, err = skippable(f, at+4)
		default:
			return incomplete("no frame begins at byte %d", at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func skippable(f file, at int64) (int64, error) {
	b, err := f.read(at, 4)
	if err != nil {
		return 0, err
	}
	end := at + 4 + int64(binary.LittleEndian.Uint32(b))
	if end > f.size {
		return 0, incomplete("it ends at byte %d of %d", f.size, end)
	}
	return end, nil
}

// zstdFrame gives the end of the frame whose descriptor stands at at.
func zstdFrame(f file, at int64) (int64, error) {
	b, err := f.read(at, 1)
	if err != nil {
		return 0, err
	}
	single, sum := b[0]&0x20 != 0, b[0]&0x04 != 0
	at += 1 + [4]int64{0, 1, 2, 4}[b[0]&3] + [4]int64{0, 2, 4, 8}[b[0]>>6]
	if !single || b[0]>>6 == 0 {
		at++ // the window, or a content size of one byte
	}
	for last := false; !last; {
		if b, err = f.read(at, 3); err != nil {
			return 0, err
		}
		head := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		last = head&1 != 0
		length := head >> 3
		if head>>1&3 == 1 { // one byte, repeated
			length = 1
		}
		at += 3 + length
	}
	if sum {
		at += 4
	}
	if at > f.size {
		return 0, incomplete("it ends at byte %d of %d", f.size, at)
	}
	return at, nil
}
