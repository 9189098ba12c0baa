package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	tailBytes      = 8         // length of the footer and the magic number
	usualFooter    = 64 << 10  // bytes fetched at once from the end of a file
	maxFooter      = 256 << 20 // bytes; a longer one is taken for malice
	maxRowGroups   = 1 << 20
	maxDepth       = 100 // of a schema
	minPartLength  = int64(len(magic)) + tailBytes
)

// readFooter reads the footer of a file and checks that it makes sense, before
// the Parquet library, which allocates and descends as deep as it is told, sees it.
func readFooter(f *blockFile) (*metadata.FileMetaData, error) {
	raw, err := footerBytes(f)
	if err != nil {
		return nil, err
	}
	if err := checkFooter(raw); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	meta, err := metadata.NewFileMetaData(raw, nil)
	if err != nil {
		return nil, err
	}
	if meta.IsSetEncryptionAlgorithm() {
		return nil, encrypted("an encrypted file")
	}
	return meta, checkGroups(meta, f.size)
}

// footerBytes fetches the footer without its tail.
func footerBytes(f *blockFile) ([]byte, error) {
	if f.size < minPartLength {
		return nil, fmt.Errorf("%d bytes are too few for a Parquet file", f.size)
	}
	end, err := f.tail(usualFooter)
	if err != nil {
		return nil, err
	}
	tail := end[len(end)-tailBytes:]
	switch string(tail[4:]) {
	case magic:
	case encryptedMagic:
		return nil, encrypted("an encrypted file")
	default:
		return nil, fmt.Errorf("it does not end in %s: cut short, or no Parquet file", magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if length > maxFooter || length > f.size-minPartLength {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, f.size)
	}
	if length > int64(len(end))-tailBytes {
		if end, err = f.tail(length + tailBytes); err != nil {
			return nil, err
		}
	}
	end = end[:len(end)-tailBytes]
	return end[int64(len(end))-length:], nil
}

// checkFooter walks through a footer: every length must have its bytes, and the
// tree of columns must not be deeper than recursion should go.
func checkFooter(raw []byte) error {
	c := &thriftCursor{rest: raw}
	var tree schemaTree
	c.fields(func(id int16, kind byte) {
		if id == 2 && kind == thriftList {
			tree.read(c)
			return
		}
		c.skip(kind, 0)
	})
	if c.err != nil {
		return c.err
	}
	return tree.check()
}

// schemaTree is the numbers of children of a schema's elements, depth first.
type schemaTree struct{ children []int32 }

func (t *schemaTree) read(c *thriftCursor) {
	n, kind := c.list()
	for range n {
		if kind != thriftStruct {
			c.skipElement(kind, 0)
			continue
		}
		children := int32(0)
		numbers(c, map[int16]*int32{5: &children})
		t.children = append(t.children, children)
	}
}

func (t *schemaTree) check() error {
	var open []int32 // children still to come, of each element above
	for i, n := range t.children {
		if i > 0 && len(open) == 0 {
			return fmt.Errorf("element %d of the schema belongs to none", i)
		}
		if i > 0 {
			open[len(open)-1]--
		}
		if n < 0 {
			return fmt.Errorf("element %d of the schema has %d children", i, n)
		}
		if n > 0 {
			open = append(open, n)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > maxDepth {
			return unsupported("a schema more than %d deep", maxDepth)
		}
	}
	if len(t.children) == 0 || len(open) > 0 {
		return errors.New("the schema is not whole")
	}
	return nil
}

// checkGroups holds what the footer says of rows and places against each other.
func checkGroups(meta *metadata.FileMetaData, size int64) error {
	groups := len(meta.RowGroups)
	if groups > maxRowGroups {
		return fmt.Errorf("%d row groups", groups)
	}
	rows := int64(0)
	for i := range groups {
		n := meta.RowGroups[i].GetNumRows()
		if n < 0 || n > meta.NumRows-rows {
			return fmt.Errorf("row group %d of %d rows in a file of %d", i, n, meta.NumRows)
		}
		rows += n
		if columns := len(meta.RowGroups[i].GetColumns()); columns != meta.Schema.NumColumns() {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, columns, meta.Schema.NumColumns())
		}
	}
	if rows != meta.NumRows {
		return fmt.Errorf("its row groups hold %d rows, the footer says %d", rows, meta.NumRows)
	}
	return nil
}

// chunkRange is where the pages of a column chunk lie in the file.
func chunkRange(chunk *metadata.ColumnChunkMetaData, size int64) (start, end int64, err error) {
	if chunk.FilePath() != "" {
		return 0, 0, unread(fmt.Sprintf("a column in a file of its own, %q", chunk.FilePath()))
	}
	if chunk.CryptoMetadata() != nil {
		return 0, 0, encrypted("an encrypted column")
	}
	start = chunk.DataPageOffset()
	if at := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && at > 0 && at < start {
		start = at
	}
	length := chunk.TotalCompressedSize()
	if start < 0 || length < 0 || start > size || length > size-start {
		return 0, 0, fmt.Errorf("its pages are said to be bytes %d to %d of a file of %d", start, start+length, size)
	}
	return start, start + length, nil
}

// forgetArrowSchema removes the copy of the Arrow schema that Arrow's writers
// leave in the footer, of files for whose bytes nobody vouches: the library
// allocates whatever length the copy claims, and running out of memory cannot be
// caught. Types then follow from the Parquet schema alone: a dictionary reads as
// its values, a named time zone as UTC.
func forgetArrowSchema(meta *metadata.FileMetaData) {
	kept := meta.FileMetaData.KeyValueMetadata[:0]
	for _, entry := range meta.FileMetaData.KeyValueMetadata {
		if entry.Key != "ARROW:schema" {
			kept = append(kept, entry)
		}
	}
	meta.FileMetaData.KeyValueMetadata = kept
}
