package dataset

import "fmt"

// Types of pages (parquet.thrift, PageType).
const (
	pageData       = 0
	pageIndex      = 1
	pageDictionary = 2
	pageDataV2     = 3
)

// Encodings (parquet.thrift, Encoding).
const (
	plain             = 0
	plainDictionary   = 2
	runLength         = 3
	bitPacked         = 4
	deltaBinaryPacked = 5
	deltaLength       = 6
	deltaByteArray    = 7
	dictionaryIndex   = 8
	byteStreamSplit   = 9
)

// pageHeader is what stands before each page (parquet.thrift, PageHeader).
type pageHeader struct {
	kind         int32
	uncompressed int32 // bytes
	compressed   int32 // bytes in the file
	crc          int32 // CRC-32 of the bytes in the file
	hasCRC       bool
	values       int32 // with nulls
	encoding     int32
	defEncoding  int32 // of version 1
	repEncoding  int32
	defBytes     int32 // of version 2
	repBytes     int32
	stored       bool // version 2: the values are not compressed
}

// readPageHeader reads the header at the start of window, and returns its
// length. errThriftShort means that it may go on after the window.
func readPageHeader(window []byte) (h pageHeader, length int, err error) {
	h.kind, h.uncompressed, h.compressed = -1, -1, -1
	c := &thriftCursor{rest: window}
	c.fields(func(id int16, kind byte) {
		switch {
		case id == 1 && kind == thriftI32:
			h.kind = c.int32()
		case id == 2 && kind == thriftI32:
			h.uncompressed = c.int32()
		case id == 3 && kind == thriftI32:
			h.compressed = c.int32()
		case id == 4 && kind == thriftI32:
			h.crc, h.hasCRC = c.int32(), true
		case id == 5 && kind == thriftStruct:
			h.readData(c)
		case id == 7 && kind == thriftStruct:
			h.readDictionary(c)
		case id == 8 && kind == thriftStruct:
			h.readDataV2(c)
		default:
			c.skip(kind, 0)
		}
	})
	if c.err != nil {
		return h, 0, c.err
	}
	return h, len(window) - len(c.rest), h.check()
}

func (h *pageHeader) readData(c *thriftCursor) {
	numbers(c, map[int16]*int32{1: &h.values, 2: &h.encoding, 3: &h.defEncoding, 4: &h.repEncoding})
}

func (h *pageHeader) readDictionary(c *thriftCursor) {
	numbers(c, map[int16]*int32{1: &h.values, 2: &h.encoding})
}

func (h *pageHeader) readDataV2(c *thriftCursor) {
	c.fields(func(id int16, kind byte) {
		switch {
		case id == 1 && kind == thriftI32:
			h.values = c.int32()
		case id == 4 && kind == thriftI32:
			h.encoding = c.int32()
		case id == 5 && kind == thriftI32:
			h.defBytes = c.int32()
		case id == 6 && kind == thriftI32:
			h.repBytes = c.int32()
		case id == 7:
			h.stored = kind == thriftFalse
		default:
			c.skip(kind, 1)
		}
	})
}

// numbers reads the 32-bit fields of a struct and passes over the others.
func numbers(c *thriftCursor, to map[int16]*int32) {
	c.fields(func(id int16, kind byte) {
		if at := to[id]; at != nil && kind == thriftI32 {
			*at = c.int32()
			return
		}
		c.skip(kind, 1)
	})
}

// maxPageBytes and maxPageValues bound the memory that one page takes.
const (
	maxPageBytes  = 256 << 20
	maxPageValues = 1 << 26
)

func (h *pageHeader) check() error {
	switch {
	case h.kind < 0 || h.uncompressed < 0 || h.compressed < 0 || h.values < 0:
		return fmt.Errorf("a page header of type %d, %d values and %d bytes, %d uncompressed", h.kind, h.values, h.compressed, h.uncompressed)
	case h.uncompressed > maxPageBytes || h.compressed > maxPageBytes || h.values > maxPageValues:
		return unsupported("a page of %d values and %d bytes, %d uncompressed; %d and %d are the most that are read",
			h.values, h.compressed, h.uncompressed, maxPageValues, maxPageBytes)
	case h.defBytes < 0 || h.repBytes < 0 || int64(h.defBytes)+int64(h.repBytes) > min(int64(h.uncompressed), int64(h.compressed)):
		return fmt.Errorf("a page of %d bytes has levels of %d and %d bytes", h.compressed, h.repBytes, h.defBytes)
	}
	return nil
}
