package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/heirloom-ml/heirloom/store"
)

// inputFile is one file, pinned to a version of its bytes.
type inputFile struct {
	store   *store.Store
	key     store.Key
	size    int64
	version string // "" = the store tells none
	source  Source
}

// find makes files of an input.
func (in *Inputs) find(ctx context.Context, input Input) ([]inputFile, error) {
	if input.Reader != nil {
		file, err := in.spool(ctx, input.Reader)
		return []inputFile{file}, err
	}
	if input.Key != "" {
		object, err := input.Store.Stat(ctx, input.Key)
		if err == nil {
			file, err := in.identify(ctx, input.Store, object)
			return []inputFile{file}, err
		}
		if !errors.Is(err, store.ErrNotExist) {
			return nil, err
		}
	}
	return in.directory(ctx, input)
}

func (in *Inputs) directory(ctx context.Context, input Input) ([]inputFile, error) {
	below := ""
	if input.Key != "" {
		below = string(input.Key) + "/"
	}
	var files []inputFile
	var deeper string
	for object, err := range input.Store.List(ctx, below) {
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(string(object.Key), below)
		if !IsData(name) {
			continue
		}
		if strings.Contains(name, "/") {
			deeper = cmp.Or(deeper, name)
			continue
		}
		file, err := in.identify(ctx, input.Store, object)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, failure("read inputs", store.Key(input.Store.KeyURL(input.Key)), store.ErrNotExist, nothingDirectly(deeper))
	}
	return files, nil
}

// nothingDirectly says what is wrong with a directory, of whose files only those deeper
// in it are data, "" if there are none.
func nothingDirectly(deeper string) error {
	if deeper == "" {
		return errors.New("there is neither a file nor a directory with files")
	}
	return fmt.Errorf("its files lie in directories of it, such as %s: name these directories, or take the tree as it is with heirloom dataset add", deeper)
}

// identify says which bytes an object holds: by its version, else by their hash.
func (in *Inputs) identify(ctx context.Context, s *store.Store, object store.Object) (inputFile, error) {
	uri, err := store.CanonicalURI(s.KeyURL(object.Key), "")
	if err != nil {
		return inputFile{}, err
	}
	file := inputFile{store: s, key: object.Key, size: object.Size, version: object.Version}
	file.source = Source{URI: uri, Version: object.Version}
	if in.options.Hash || object.Version == "" {
		file.source.Version = ""
		file.source.Digest, err = file.hash(ctx)
	}
	return file, err
}

func (f inputFile) hash(ctx context.Context) (store.Digest, error) {
	r, err := f.reader(ctx)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return store.Digest(hex.EncodeToString(sum.Sum(nil))), nil
}

// reader streams the bytes of the version that was found. An empty object has no
// range to ask for.
func (f inputFile) reader(ctx context.Context) (io.ReadCloser, error) {
	if f.size == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	return f.store.OpenRange(ctx, f.key, 0, f.size, f.version)
}

// spool copies a stream to a file of its own, which is known by its hash alone.
func (in *Inputs) spool(ctx context.Context, r io.Reader) (inputFile, error) {
	dir, err := os.MkdirTemp(in.options.TempDir, "heirloom-input-*")
	if err != nil {
		return inputFile{}, err
	}
	in.spools = append(in.spools, dir)
	f, err := os.Create(filepath.Join(dir, "stdin"))
	if err != nil {
		return inputFile{}, err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), r)
	if err = errors.Join(err, f.Close()); err != nil {
		return inputFile{}, err
	}
	s, err := store.Open(ctx, dir, nil)
	if err != nil {
		return inputFile{}, err
	}
	object, err := s.Stat(ctx, "stdin")
	source := Source{URI: "stdin:", Digest: store.Digest(hex.EncodeToString(sum.Sum(nil)))}
	return inputFile{store: s, key: "stdin", size: object.Size, version: object.Version, source: source}, err
}

// Close removes the copies of streams. It may be called more than once.
func (in *Inputs) Close() error {
	var errs []error
	for _, file := range in.files {
		if file.source.URI == "stdin:" {
			errs = append(errs, file.store.Close())
		}
	}
	for _, dir := range in.spools {
		errs = append(errs, os.RemoveAll(dir))
	}
	in.files, in.spools = nil, nil
	return errors.Join(errs...)
}

const inputBuffer = 64 << 10 // bytes

// stream is an input being read, decompressed.
type stream struct {
	*bufio.Reader
	name   string // without the ending of a compression
	format string
	packed bool // it is compressed as a whole
	closes []func()
}

// openStream opens a file. Its format is the one given, else told by its name,
// else by its first bytes.
func openStream(ctx context.Context, file inputFile, format string) (*stream, error) {
	raw, err := file.reader(ctx)
	if err != nil {
		return nil, err
	}
	s := &stream{Reader: bufio.NewReaderSize(raw, inputBuffer), name: file.key.Base(), closes: []func(){func() { raw.Close() }}}
	if err := s.decompress(); err != nil {
		s.close()
		return nil, err
	}
	s.format = format
	if s.format == "" {
		s.format = formatOf(s.name)
	}
	if s.format == "" {
		s.format = s.sniff()
	}
	return s, nil
}

func (s *stream) close() {
	for _, end := range s.closes {
		end()
	}
}

// decompress looks for the magic numbers of gzip (RFC 1952) and zstd (RFC 8878).
func (s *stream) decompress() error {
	head, _ := s.Peek(4) // an error shows itself again in the next Read
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(s.Reader)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		s.Reader, s.packed = bufio.NewReaderSize(r, inputBuffer), true
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(s.Reader, zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("zstd: %w", err)
		}
		s.closes = append(s.closes, r.Close)
		s.Reader, s.packed = bufio.NewReaderSize(r, inputBuffer), true
	}
	for _, ending := range []string{".gz", ".zst", ".zstd"} {
		s.name = strings.TrimSuffix(s.name, ending)
	}
	return nil
}

// maxWindow is what a zstd stream may make us keep, in bytes: what the zstd
// command allows too.
const maxWindow = 128 << 20

// formatOf tells a format by the ending of a name; "" = it does not say.
func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return "csv"
	case ".tsv":
		return "tsv"
	case ".jsonl", ".ndjson", ".json":
		return "jsonl"
	case ".parquet", ".pq":
		return "parquet"
	case ".arrow", ".arrows", ".feather", ".ipc":
		return "arrow"
	}
	return ""
}

// sniff tells a format by the first bytes. What is nothing else is CSV.
func (s *stream) sniff() string {
	head, _ := s.Peek(len(arrowMagic))
	switch {
	case bytes.HasPrefix(head, []byte(magic)):
		return "parquet"
	case string(head) == arrowMagic, bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return "arrow"
	case bytes.HasPrefix(head, []byte("{")):
		return "jsonl"
	}
	return "csv"
}
