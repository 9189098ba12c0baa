package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
)

// errChecksum is the cause where bytes are not those that were written.
var errChecksum = errors.New("a checksum does not match")

// readAll decodes every page of a file, and where the manifest has checksums
// also what lies between the pages.
func (p *part) readAll(ctx context.Context, sum store.Digest) error {
	all := make([]int, len(p.manifest.Fields))
	for i := range all {
		all[i] = i
	}
	for group := range p.groups {
		rows := p.groupRows(group)
		bytes := p.chosenBytes(group, all)
		batch := min(max(wantedBytes/(bytes/max(1, rows)+1), 1), defaultBatchRows)
		g, err := p.openGroup(ctx, group, all, p.schema, batch, rows)
		if err != nil {
			return err
		}
		err = g.drain()
		g.close()
		if err != nil {
			return err
		}
	}
	return p.readBlocks(ctx, sum)
}

func (g *groupReader) drain() error {
	for {
		record, err := g.next()
		if record == nil || err != nil {
			return err
		}
		record.Release()
	}
}

// readBlocks compares every block with its checksum, and all of them with that
// of the file.
func (p *part) readBlocks(ctx context.Context, sum store.Digest) error {
	if p.file.sums == nil {
		return nil
	}
	hash := sha256.New()
	for i := range p.file.sums {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := p.file.fetchBlock(int64(i))
		if err != nil {
			return err
		}
		hash.Write(block)
	}
	if got := store.Digest(hex.EncodeToString(hash.Sum(nil))); got != sum {
		return errSum(p.key, got, sum)
	}
	return nil
}

func errSum(key store.Key, got, want store.Digest) error {
	return failure("read", key, store.ErrCorrupt, fmt.Errorf("%w: its SHA-256 is %s, %s in the manifest", errChecksum, got, want))
}

// maxCRCFile bounds what is read of a checksum file: enough for 100 GiB.
const maxCRCFile = 1 << 30

// checkCRC holds a file against the checksum file of Hadoop's beside it, if
// there is one: the header "crc\0" and the number of bytes of a piece, then the
// CRC-32 of each piece. Without ReadData only its length is looked at.
func (c *checker) checkCRC(ctx context.Context, f *found, object store.Object) {
	name := object.Key.Base()
	key := store.Key(string(object.Key)[:len(object.Key)-len(name)] + "." + name + ".crc")
	size, ok := f.crcs[key]
	if !ok || size > maxCRCFile {
		return
	}
	body, err := c.store.Get(ctx, key)
	if err != nil {
		c.findError(RuleUnreachable, key, err)
		return
	}
	sums, piece, err := parseHadoopCRC(body)
	if err == nil && int64(len(sums)) != (object.Size+piece-1)/piece {
		err = fmt.Errorf("it has %d checksums of %d bytes each, the file %d bytes", len(sums), piece, object.Size)
	}
	if err == nil && c.opts.ReadData {
		err = c.compareCRC(ctx, object, sums, piece)
	}
	if err != nil {
		c.find(RuleStaleCRC, key, "%v", err)
	}
}

func parseHadoopCRC(body []byte) (sums []uint32, piece int64, err error) {
	if len(body) < 8 || string(body[:4]) != "crc\x00" || len(body)%4 != 0 {
		return nil, 0, errors.New("it is no checksum file")
	}
	piece = int64(binary.BigEndian.Uint32(body[4:]))
	if piece <= 0 || piece > blockBytes {
		return nil, 0, fmt.Errorf("its pieces have %d bytes", piece)
	}
	for rest := range slices.Chunk(body[8:], 4) {
		sums = append(sums, binary.BigEndian.Uint32(rest))
	}
	return sums, piece, nil
}

func (c *checker) compareCRC(ctx context.Context, object store.Object, sums []uint32, piece int64) error {
	r, err := c.store.OpenRange(ctx, object.Key, 0, object.Size, object.Version)
	if err != nil {
		return err
	}
	defer r.Close()
	buffer := make([]byte, piece)
	for i, want := range sums {
		n, err := io.ReadFull(r, buffer)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if crc32.ChecksumIEEE(buffer[:n]) != want {
			return fmt.Errorf("bytes %d to %d of the file do not match it", int64(i)*piece, int64(i)*piece+int64(n))
		}
	}
	return nil
}
