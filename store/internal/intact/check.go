package intact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// ErrIncomplete says that a file lacks its end, or what its format demands.
var ErrIncomplete = errors.New("the file is not complete")

// format is one that is known by the name of a file or by how it begins.
type format struct {
	name     string
	magic    []string // one of them stands at the start; nil has none
	suffixes []string // a file with one of them is of this format, whatever it begins with
	either   []string // a file with one of them may be of it, and is never empty
	check    func(file) error
}

func formats() []format {
	return []format{
		{name: "zip", magic: []string{"PK\x03\x04"}, suffixes: []string{".npz", ".zip", ".keras"}, either: []string{".pt", ".pth", ".ckpt"}, check: checkZip},
		{name: "safetensors", suffixes: []string{".safetensors"}, check: checkSafetensors},
		{name: "Parquet", magic: []string{"PAR1", "PARE"}, suffixes: []string{".parquet"}, check: checkParquet},
		{name: "gzip", magic: []string{"\x1f\x8b\x08"}, suffixes: []string{".gz", ".tgz"}, check: checkGzip},
		{name: "zstd", magic: []string{zstdMagic}, suffixes: []string{".zst"}, check: checkZstd},
		{name: "HDF5", magic: []string{hdf5Magic}, suffixes: []string{".h5", ".hdf5"}, check: checkHDF5},
		{name: "JSON", suffixes: []string{".json"}, check: checkJSON},
	}
}

// Check is nil if the file, size bytes long, is whole as far as its structure
// tells, or of a format that is not known; name is its name or path. Else the
// error is ErrIncomplete and says why, or that of r. Known are zip (PyTorch's
// files, npz, keras), safetensors, Parquet, gzip, zstd, HDF5 and JSON. It reads
// the ends, not the data, save in gzip and JSON, whose ends show to no other.
func Check(name string, r io.ReaderAt, size int64) error {
	f := file{r: r, size: size}
	head, err := f.read(0, min(size, 8))
	if err != nil {
		return err
	}
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	for _, known := range formats() {
		has := func(suffix string) bool { return strings.HasSuffix(base, suffix) }
		begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
		named := slices.ContainsFunc(known.suffixes, has)
		switch {
		case named || slices.ContainsFunc(known.magic, begins):
			if err := known.check(f); err != nil {
				return fmt.Errorf("read as %s: %w", known.name, err)
			}
			return nil
		case size == 0 && slices.ContainsFunc(known.either, has):
			return incomplete("it is empty")
		}
	}
	return nil
}

func incomplete(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrIncomplete, fmt.Sprintf(format, args...))
}

// file is what is checked.
type file struct {
	r    io.ReaderAt
	size int64
}

// read gives n bytes from offset on; where they lie behind the end the error is
// ErrIncomplete.
func (f file) read(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || n > f.size-offset {
		return nil, incomplete("it ends at byte %d, and byte %d is wanted", f.size, offset+n)
	}
	b := make([]byte, n)
	if got, err := f.r.ReadAt(b, offset); int64(got) < n {
		return nil, cut(err)
	}
	return b, nil
}

// all reads the file from its start.
func (f file) all() io.Reader { return io.NewSectionReader(f.r, 0, f.size) }

// cut takes the end of a file that shrank for what it is.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return incomplete("it ends before its time")
	}
	return err
}
