package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
)

// source is a local file that must stay as it is while it is read. It may be
// read by several goroutines.
type source struct {
	path  string
	file  *os.File
	size  int64 // bytes
	stamp settle.Identity
}

// openSource pins the regular file at path, which is no link.
func openSource(path string) (*source, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|sourceFlags, 0)
	if err != nil {
		return nil, refusedSource(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkSource(info)
	}
	src := &source{path: path, file: f}
	if err == nil {
		src.size, src.stamp = info.Size(), settle.IdentityOf(info)
	}
	if err != nil {
		f.Close() // only read
		return nil, err
	}
	return src, nil
}

// refusedSource says what is wrong where the system has but a number for it.
func refusedSource(path string, err error) error {
	if info, statErr := os.Lstat(path); statErr == nil {
		if kind := checkSource(info); kind != nil {
			return kind
		}
	}
	return err
}

// checkSource refuses what is not a regular file.
func checkSource(info fs.FileInfo) error {
	what := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "a device"
	}
	return invalid(fmt.Errorf("it is %s, not a regular file", what))
}

func (s *source) close() { s.file.Close() } // of a file only read, the error says nothing

// check is ErrConflict if the file is no longer as it was.
func (s *source) check() error {
	now, err := s.file.Stat()
	if err != nil {
		return err
	}
	if settle.IdentityOf(now) != s.stamp {
		return s.changed("the file changed while it was read")
	}
	return nil
}

func (s *source) changed(text string) error {
	return &Error{Op: "upload", Key: s.path, Kind: ErrConflict, Err: errors.New(text)}
}

// read fills p from offset on.
func (s *source) read(p []byte, offset int64) error {
	n, err := s.file.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return s.changed(fmt.Sprintf("the file ended at byte %d of %d while it was read", offset+int64(n), s.size))
	}
	return err
}

// section is part n of parts of that size.
func (s *source) section(n int, size int64) *io.SectionReader {
	from := int64(n) * size
	return io.NewSectionReader(s.file, from, min(size, s.size-from))
}

// crc sums up length bytes from offset on by way of buffer.
func (s *source) crc(offset, length int64, buffer []byte) (crc uint32, err error) {
	for length > 0 {
		p := buffer[:min(int64(len(buffer)), length)]
		if err := s.read(p, offset); err != nil {
			return 0, err
		}
		crc = addCRC(crc, p)
		offset += int64(len(p))
		length -= int64(len(p))
	}
	return crc, nil
}
