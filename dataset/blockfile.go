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
	// Blocks kept in memory while a file is read: two for each column that is
	// being read and some for the footer, within these bounds.
	minBlocks, maxBlocks = 8, 128
)

// blockFile reads a stored file at random, in whole blocks, each checked by its
// checksum where the manifest has one. It is pinned to one version of the file.
// Blocks used last stay in memory. It is safe for concurrent use.
type blockFile struct {
	ctx     context.Context // of the read in progress
	store   *store.Store
	key     store.Key
	size    int64    // bytes
	version string   // "" = any
	block   int64    // bytes of a block
	sums    []uint32 // CRC32C of each block; nil = unknown

	mu     sync.Mutex // guards what follows
	keep   int        // blocks at most in memory
	blocks map[int64]*fileBlock
	used   []int64 // keys of blocks, the one used last at the end
}

// fileBlock is one block; its content may be read once ready is closed.
type fileBlock struct {
	ready chan struct{}
	data  []byte
	err   error
}

// newBlockFile reads file, which lies in dir, as its manifest describes it, in
// the given version. Without checksums in file the blocks are not checked.
func newBlockFile(ctx context.Context, s *store.Store, key store.Key, file File, version string) (*blockFile, error) {
	f := &blockFile{
		ctx: ctx, store: s, key: key, size: file.Bytes, version: version,
		block: blockBytes, keep: minBlocks, blocks: make(map[int64]*fileBlock),
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
	f.keep = min(max(f.keep, 2*columns+minBlocks), maxBlocks)
}

// view returns n bytes at offset, all of them within the file: a part of a block,
// or, where they span several, of scratch, which may be replaced by a larger one.
// The bytes are the caller's to read, not to change.
func (f *blockFile) view(offset int64, n int, scratch []byte) (bytes, newScratch []byte, err error) {
	if offset < 0 || n < 0 || offset > f.size-int64(n) {
		return nil, scratch, fmt.Errorf("bytes %d to %d of a file of %d", offset, offset+int64(n), f.size)
	}
	if n == 0 {
		return nil, scratch, nil
	}
	if offset/f.block == (offset+int64(n)-1)/f.block {
		block, err := f.get(offset / f.block)
		if err != nil {
			return nil, scratch, err
		}
		at := offset % f.block
		return block[at : at+int64(n)], scratch, nil
	}
	if cap(scratch) < n {
		scratch = make([]byte, n)
	}
	scratch = scratch[:n]
	for done := 0; done < n; {
		at := offset + int64(done)
		block, err := f.get(at / f.block)
		if err != nil {
			return nil, scratch, err
		}
		done += copy(scratch[done:], block[at%f.block:])
	}
	return scratch, scratch, nil
}

// tail returns the last n bytes. Where nobody checks whole blocks, nothing
// before them is fetched.
func (f *blockFile) tail(n int64) ([]byte, error) {
	n = min(n, f.size)
	if f.sums != nil {
		bytes, _, err := f.view(f.size-n, int(n), nil)
		return bytes, err
	}
	return f.fetch(f.size-n, n)
}

// get returns block number n. Of several callers that want it at once, one
// fetches it.
func (f *blockFile) get(n int64) ([]byte, error) {
	f.mu.Lock()
	block, ok := f.blocks[n]
	if ok {
		f.touch(n)
		f.mu.Unlock()
		<-block.ready
		return block.data, block.err
	}
	block = &fileBlock{ready: make(chan struct{})}
	if len(f.used) >= f.keep {
		delete(f.blocks, f.used[0])
		f.used = f.used[1:]
	}
	f.blocks[n] = block
	f.used = append(f.used, n)
	f.mu.Unlock()
	defer close(block.ready)
	block.data, block.err = f.fetchBlock(n)
	return block.data, block.err
}

// touch moves n to the end of used. The caller holds mu.
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

func (f *blockFile) fetchBlock(n int64) ([]byte, error) {
	start := n * f.block
	block, err := f.fetch(start, min(f.block, f.size-start))
	if err == nil && f.sums != nil && crc32.Checksum(block, castagnoli()) != f.sums[n] {
		return nil, failure("read", f.key, store.ErrCorrupt,
			fmt.Errorf("%w: bytes %d to %d, by the manifest", errChecksum, start, start+int64(len(block))))
	}
	return block, err
}

func (f *blockFile) fetch(start, length int64) ([]byte, error) {
	r, err := f.store.OpenRange(f.ctx, f.key, start, length, f.version)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	block := make([]byte, length)
	if _, err := io.ReadFull(r, block); err != nil {
		return nil, fmt.Errorf("read %s: bytes %d to %d: %w", f.key, start, start+length, err)
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
