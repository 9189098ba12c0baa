package dataset

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	blockBytes = 1 << 20 // of a request and of a checksum, in files we write
	// Blocks kept in memory while a file is read: one for each column that is
	// being read and some for the footer, within these bounds.
	minBlocks, maxBlocks = 8, 256
)

// blockFile reads a stored file at random, in whole blocks, each checked by its
// checksum where the manifest has one. It is pinned to one version of the file.
// Blocks used last stay in memory. It is safe for concurrent use.
type blockFile struct {
	ctx     context.Context // of the read in progress: io.ReaderAt has no place for it
	store   *store.Store
	key     store.Key
	size    int64    // bytes
	version string   // "" = any
	block   int64    // bytes of a block
	sums    []uint32 // CRC32C of each block; nil = unknown

	mu     sync.Mutex // guards what follows
	keep   int        // blocks at most in memory
	blocks map[int64][]byte
	used   []int64 // keys of blocks, the one used last at the end
	failed error   // the first error; the Parquet library does not always pass it on
}

// newBlockFile reads file, which lies in dir, as its manifest describes it, in
// the given version. Without checksums in file the blocks are not checked.
func newBlockFile(ctx context.Context, s *store.Store, key store.Key, file File, version string) (*blockFile, error) {
	f := &blockFile{
		ctx: ctx, store: s, key: key, size: file.Bytes, version: version,
		block: blockBytes, keep: minBlocks, blocks: make(map[int64][]byte),
	}
	if file.CRC32C == nil {
		return f, nil
	}
	f.block = file.BlockBytes
	if f.block <= 0 || int64(len(file.CRC32C)) != (f.size+f.block-1)/f.block {
		return nil, failure("read", key, store.ErrCorrupt, errors.New("its manifest has the wrong number of checksums"))
	}
	for _, text := range file.CRC32C {
		sum, err := parseCRC(text)
		if err != nil {
			return nil, failure("read", key, store.ErrCorrupt, fmt.Errorf("its manifest: %w", err))
		}
		f.sums = append(f.sums, sum)
	}
	return f, nil
}

// reserve makes room for reading so many columns side by side.
func (f *blockFile) reserve(columns int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep = min(max(f.keep, columns+minBlocks), maxBlocks)
}

// ReadAt follows io.ReaderAt.
func (f *blockFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, failure("read", f.key, store.ErrInvalid, fmt.Errorf("offset %d", offset))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for n < len(p) && offset+int64(n) < f.size {
		at := offset + int64(n)
		block, err := f.get(at / f.block)
		if err != nil {
			if f.failed == nil {
				f.failed = err
			}
			return n, err
		}
		n += copy(p[n:], block[at%f.block:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// cause returns the first error of a read, or err if no read failed.
func (f *blockFile) cause(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.failed != nil {
		return f.failed
	}
	return err
}

func (f *blockFile) get(n int64) ([]byte, error) {
	if block, ok := f.blocks[n]; ok {
		f.touch(n)
		return block, nil
	}
	block, err := f.fetch(n)
	if err != nil {
		return nil, err
	}
	if len(f.used) >= f.keep {
		delete(f.blocks, f.used[0])
		f.used = f.used[1:]
	}
	f.blocks[n] = block
	f.used = append(f.used, n)
	return block, nil
}

// touch moves n to the end of used.
func (f *blockFile) touch(n int64) {
	last := len(f.used) - 1
	for i := last; i >= 0; i-- {
		if f.used[i] == n {
			copy(f.used[i:], f.used[i+1:])
			f.used[last] = n
			return
		}
	}
}

func (f *blockFile) fetch(n int64) ([]byte, error) {
	start := n * f.block
	block := make([]byte, min(f.block, f.size-start))
	r, err := f.store.OpenRange(f.ctx, f.key, start, int64(len(block)), f.version)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := io.ReadFull(r, block); err != nil {
		return nil, fmt.Errorf("read %s: bytes %d to %d: %w", f.key, start, start+int64(len(block)), err)
	}
	if f.sums != nil && crc32.Checksum(block, castagnoli()) != f.sums[n] {
		return nil, failure("read", f.key, store.ErrCorrupt,
			fmt.Errorf("bytes %d to %d do not match the checksum in the manifest", start, start+int64(len(block))))
	}
	return block, nil
}

// castagnoli is the table of CRC32C, which processors compute by themselves.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func parseCRC(text string) (uint32, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return 0, fmt.Errorf("%q is not a checksum of eight hexadecimal digits", text)
	}
	return uint32(raw[0])<<24 | uint32(raw[1])<<16 | uint32(raw[2])<<8 | uint32(raw[3]), nil
}
