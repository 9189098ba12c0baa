package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth is deeper than any document of Parquet nests.
const maxThriftDepth = 32

// thriftCursor reads Thrift's compact protocol out of bytes that nobody vouches
// for. The first error stays; after it every value is zero.
type thriftCursor struct {
	rest []byte
	err  error
}

var errThriftShort = errors.New("it ends within a value")

func (c *thriftCursor) fail(err error) {
	if c.err == nil {
		c.err = err
		c.rest = nil
	}
}

func (c *thriftCursor) byte() byte {
	if len(c.rest) == 0 {
		c.fail(errThriftShort)
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *thriftCursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	switch {
	case n == 0:
		c.fail(errThriftShort)
	case n < 0:
		c.fail(errors.New("a number of more than 64 bits"))
	default:
		c.rest = c.rest[n:]
		return v
	}
	return 0
}

// int reads a zigzag number.
func (c *thriftCursor) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// int32 reads a zigzag number that must fit.
func (c *thriftCursor) int32() int32 {
	v := c.int()
	if int64(int32(v)) != v {
		c.fail(fmt.Errorf("%d where 32 bits are expected", v))
		return 0
	}
	return int32(v)
}

func (c *thriftCursor) drop(n uint64) {
	if n > uint64(len(c.rest)) {
		c.fail(errThriftShort)
		return
	}
	c.rest = c.rest[n:]
}

// list reads the head of a list or set: the number of its elements, which all
// have room in what follows, and their type.
func (c *thriftCursor) list() (n int, kind byte) {
	head := c.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = c.uvarint()
	}
	kind = head & 15
	least := uint64(1)
	if kind == thriftStruct {
		least = 3 // a field and the end, for all that Parquet keeps in lists
	}
	if size*least > uint64(len(c.rest)) || size > uint64(len(c.rest)) {
		c.fail(fmt.Errorf("a list of %d in %d bytes", size, len(c.rest)))
		return 0, 0
	}
	return int(size), kind
}

// fields calls f for each field of a struct, which must read it, or skip it.
func (c *thriftCursor) fields(f func(id int16, kind byte)) {
	id := int16(0)
	for c.err == nil {
		head := c.byte()
		if head&15 == 0 {
			return
		}
		if delta := int16(head >> 4); delta != 0 {
			id += delta
		} else {
			id = int16(c.int())
		}
		f(id, head&15)
	}
}

// skip passes over a value within depth structs.
func (c *thriftCursor) skip(kind byte, depth int) {
	if depth > maxThriftDepth {
		c.fail(errors.New("it nests too deep"))
		return
	}
	switch kind {
	case thriftTrue, thriftFalse: // the value is the type
	case thriftByte:
		c.byte()
	case thriftI16, thriftI32, thriftI64:
		c.uvarint()
	case thriftDouble:
		c.drop(8)
	case thriftBinary:
		c.drop(c.uvarint())
	case thriftList, thriftSet:
		c.skipList(depth)
	case thriftMap:
		c.skipMap(depth)
	case thriftStruct:
		c.fields(func(_ int16, kind byte) { c.skip(kind, depth+1) })
	default:
		c.fail(fmt.Errorf("a value of type %d", kind))
	}
}

func (c *thriftCursor) skipList(depth int) {
	n, kind := c.list()
	for range n {
		c.skipElement(kind, depth)
	}
}

// skipElement is skip within lists and maps, where a boolean has a byte of its own.
func (c *thriftCursor) skipElement(kind byte, depth int) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	c.skip(kind, depth+1)
}

func (c *thriftCursor) skipMap(depth int) {
	n := c.uvarint()
	if n == 0 {
		return
	}
	kinds := c.byte()
	if n > uint64(len(c.rest)) {
		c.fail(fmt.Errorf("a map of %d in %d bytes", n, len(c.rest)))
		return
	}
	for range n {
		c.skipElement(kinds>>4, depth)
		c.skipElement(kinds&15, depth)
	}
}
