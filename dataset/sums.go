package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"

	"github.com/heirloom-ml/heirloom/store"
)

// sums is a writer that counts and digests what passes through it.
type sums struct {
	sha   hash.Hash
	bytes int64
	done  []string // checksums of the blocks that are full
	crc   uint32   // of the block that is being filled
}

func newSums() *sums { return &sums{sha: sha256.New()} }

// Write never fails.
func (s *sums) Write(p []byte) (int, error) {
	s.sha.Write(p)
	for rest := p; len(rest) > 0; {
		n := min(int64(len(rest)), blockBytes-s.bytes%blockBytes)
		s.crc = crc32.Update(s.crc, castagnoli(), rest[:n])
		s.bytes += n
		rest = rest[n:]
		if s.bytes%blockBytes == 0 {
			s.endBlock()
		}
	}
	return len(p), nil
}

func (s *sums) endBlock() {
	s.done = append(s.done, fmt.Sprintf("%08x", s.crc))
	s.crc = 0
}

// file ends the sums and describes what was written.
func (s *sums) file(name string) File {
	if s.bytes%blockBytes != 0 {
		s.endBlock()
	}
	return File{
		Name: name, Bytes: s.bytes, BlockBytes: blockBytes, CRC32C: s.done,
		SHA256: store.Digest(hex.EncodeToString(s.sha.Sum(nil))),
	}
}
