package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// leaf reads one leaf column of one row group, some rows at a time. Everything
// is decoded in the goroutine of the caller, within the bounds of the page: what
// is malformed is an error.
type leaf struct {
	name       string
	physical   parquet.Type
	width      int  // bytes of a value; 0 = byte arrays of any length, 1 = booleans
	boolean    bool // one byte for each while decoding
	fixedBytes bool // FIXED_LEN_BYTE_ARRAY
	maxDef     uint8
	maxRep     uint8

	codec      int
	pages      pages
	dictionary *dense
	expected   int64 // values of the chunk, by the footer, that were not yet met

	// The page at hand. def and rep are nil where their highest level is 0.
	def, rep []uint8
	at, n    int // of its values, with nulls
	decoder  decoder

	levels    levels
	values    dense
	usualData int // bytes of the strings of a batch, by the one before
}

// levels of what was read last. A slice is nil where the highest level is 0.
type levels struct {
	def, rep []uint8
	n        int
}

// newLeaf describes a leaf column.
func newLeaf(column *schema.Column) (*leaf, error) {
	l := &leaf{name: column.Path(), physical: column.PhysicalType()}
	if column.MaxDefinitionLevel() > 255 || column.MaxRepetitionLevel() > 255 {
		return nil, unsupported("a column nested %d deep", column.MaxDefinitionLevel())
	}
	l.maxDef, l.maxRep = uint8(column.MaxDefinitionLevel()), uint8(column.MaxRepetitionLevel())
	switch l.physical {
	case parquet.Types.Boolean:
		l.width, l.boolean = 1, true
	case parquet.Types.Int32, parquet.Types.Float:
		l.width = 4
	case parquet.Types.Int64, parquet.Types.Double:
		l.width = 8
	case parquet.Types.Int96:
		l.width = 12
	case parquet.Types.FixedLenByteArray:
		l.width, l.fixedBytes = column.TypeLength(), true
		if l.width <= 0 || l.width > maxFixedBytes {
			return nil, unsupported("values of %d bytes", l.width)
		}
	case parquet.Types.ByteArray:
	default:
		return nil, unsupported("physical type %d", l.physical)
	}
	return l, nil
}

// maxFixedBytes bounds what one value of equal lengths takes.
const maxFixedBytes = 1 << 20

// read decodes the next rows, so that levels and values hold them alone.
func (l *leaf) read(rows int64) error {
	l.levels = levels{def: l.levels.def[:0], rep: l.levels.rep[:0]}
	l.values.reset()
	if l.width == 0 {
		l.values.data = make([]byte, 0, l.usualData)
		defer func() { l.usualData = min(len(l.values.data)+len(l.values.data)/8, plausibleBytes) }()
	}
	if room := rows * int64(l.width); l.width > 0 && room <= plausibleBytes {
		l.values.fixed = make([]byte, 0, room)
	}
	if l.maxRep > 0 {
		return l.readRecords(rows)
	}
	for left := int(rows); left > 0; {
		if err := l.ready(); err != nil {
			return err
		}
		n := min(left, l.n-l.at)
		if err := l.take(n); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// readRecords reads rows of a repeated column: each begins at repetition level
// 0, and the last one ends where the next begins, or the chunk.
func (l *leaf) readRecords(rows int64) error {
	begun := int64(0)
	for {
		err := l.ready()
		if errors.Is(err, errChunkEnd) && begun == rows {
			return nil
		}
		if err != nil {
			return err
		}
		n := 0
		for _, level := range l.rep[l.at:] {
			if level == 0 {
				if begun == rows {
					break
				}
				begun++
			}
			n++
		}
		if begun == 0 {
			return errors.New("a page begins within a row")
		}
		if l.levels.n+n > maxPageValues {
			return unsupported("more than %d values in one column of a batch; ask for batches of fewer rows", maxPageValues)
		}
		if err := l.take(n); err != nil || l.at < l.n {
			return err
		}
	}
}

var errChunkEnd = errors.New("it ends early")

// ready makes sure that the page at hand has values left.
func (l *leaf) ready() error {
	for l.at == l.n {
		h, body, ok, err := l.pages.next()
		if err != nil {
			return err
		}
		if !ok {
			return errChunkEnd
		}
		switch h.kind {
		case pageDictionary:
			err = l.readDictionary(h, body)
		case pageData, pageDataV2:
			err = l.startPage(h, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take moves n values of the page at hand into what is read.
func (l *leaf) take(n int) error {
	valid := n
	if l.maxDef > 0 {
		def := l.def[l.at : l.at+n]
		l.levels.def = append(l.levels.def, def...)
		valid = count(def, l.maxDef)
	}
	if l.maxRep > 0 {
		l.levels.rep = append(l.levels.rep, l.rep[l.at:l.at+n]...)
	}
	l.levels.n += n
	l.at += n
	if valid == 0 {
		return nil
	}
	return l.decoder.read(&l.values, valid)
}

func count(levels []uint8, level uint8) int { return bytes.Count(levels, []byte{level}) }

func (l *leaf) readDictionary(h pageHeader, body []byte) error {
	if l.dictionary != nil {
		return errors.New("a second dictionary")
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return unsupported("a dictionary in encoding %d", h.encoding)
	}
	if l.width > 0 && int64(h.values)*int64(l.width) > int64(len(body))*8 {
		return errPageShort
	}
	if l.width == 0 && int64(h.values)*4 > int64(len(body)) {
		return errPageShort
	}
	d, err := l.newDecoder(plain, body, int(h.values))
	if err != nil {
		return err
	}
	l.dictionary = new(dense)
	return d.read(l.dictionary, int(h.values))
}

// startPage decodes the levels of a page and gets ready for its values.
func (l *leaf) startPage(h pageHeader, body []byte) error {
	l.expected -= int64(h.values)
	if l.expected < 0 {
		return errors.New("its pages hold more values than the footer says")
	}
	l.at, l.n = 0, int(h.values)
	var err error
	if h.kind == pageData {
		body, err = l.levelsV1(h, body)
	} else {
		body, err = l.levelsV2(h, body)
	}
	if err != nil {
		return fmt.Errorf("levels: %w", err)
	}
	valid := l.n
	if l.maxDef > 0 {
		valid = count(l.def, l.maxDef)
	}
	l.decoder = nil
	if valid > 0 {
		l.decoder, err = l.newDecoder(h.encoding, body, valid)
	}
	return err
}

// levelsV1 reads the levels that stand before the values, each with its length.
func (l *leaf) levelsV1(h pageHeader, body []byte) (rest []byte, err error) {
	if l.maxRep > 0 {
		if body, err = l.prefixed(&l.rep, l.maxRep, h.repEncoding, body); err != nil {
			return nil, err
		}
	}
	if l.maxDef > 0 {
		return l.prefixed(&l.def, l.maxDef, h.defEncoding, body)
	}
	return body, nil
}

func (l *leaf) prefixed(to *[]uint8, highest uint8, encoding int32, body []byte) ([]byte, error) {
	if encoding == bitPacked {
		return nil, unread("encoding BIT_PACKED")
	}
	if encoding != runLength {
		return nil, fmt.Errorf("encoding %d", encoding)
	}
	if len(body) < 4 {
		return nil, errPageShort
	}
	size := uint64(binary.LittleEndian.Uint32(body))
	body = body[4:]
	if size > uint64(len(body)) {
		return nil, errPageShort
	}
	return body[size:], l.readLevels(to, highest, body[:size])
}

func (l *leaf) levelsV2(h pageHeader, body []byte) ([]byte, error) {
	if int(h.repBytes)+int(h.defBytes) > len(body) {
		return nil, errPageShort
	}
	rep, body := body[:h.repBytes], body[h.repBytes:]
	def, body := body[:h.defBytes], body[h.defBytes:]
	if l.maxRep > 0 {
		if err := l.readLevels(&l.rep, l.maxRep, rep); err != nil {
			return nil, err
		}
	}
	if l.maxDef > 0 {
		return body, l.readLevels(&l.def, l.maxDef, def)
	}
	return body, nil
}

func (l *leaf) readLevels(to *[]uint8, highest uint8, data []byte) error {
	*to = slices.Grow((*to)[:0], l.n)[:l.n]
	if err := readRuns(&runs{rest: data, width: bitsFor(int(highest))}, *to); err != nil {
		return err
	}
	for _, level := range *to {
		if level > highest {
			return fmt.Errorf("level %d, %d is the highest", level, highest)
		}
	}
	return nil
}

// end checks that the chunk holds no more values than were read.
func (l *leaf) end() error {
	if l.at < l.n || l.expected != 0 {
		return fmt.Errorf("it holds %d values more than rows that were read", l.expected+int64(l.n-l.at))
	}
	return nil
}
