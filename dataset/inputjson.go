package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// jsonLines reads a file of JSON objects, one a line. Blank lines count for nothing.
func (r *reading) jsonLines(ctx context.Context, s *stream) error {
	cut := &blocks{r: s, cut: cutLines}
	first, err := cut.next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if err != nil {
		return err
	}
	f := &jsonFile{inferred: r.given == nil, schema: r.given}
	if r.schema != nil {
		f.schema = r.schema
	}
	if f.schema == nil {
		if f.schema, err = inferJSON(first); err != nil {
			return err
		}
	}
	if err := r.take(f.schema); err != nil {
		return err
	}
	next := func() ([]byte, error) {
		if block := first; block != nil {
			first = nil
			return block, nil
		}
		return cut.next()
	}
	return r.parsed(ctx, next, f.parse)
}

// jsonFile is what is known of a file of JSON objects before they are read.
type jsonFile struct {
	inferred bool
	schema   *arrow.Schema
}

// parse makes a batch of a block. It is called on several cores.
func (f *jsonFile) parse(block []byte) (arrow.Record, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, f.schema)
	defer builder.Release()
	object := jsonFields{names: make(map[string]int)}
	for i, field := range f.schema.Fields() {
		if err := object.add(builder.Field(i), field); err != nil {
			return nil, err
		}
	}
	err := eachObject(block, func(n int64, d *jsonText) error {
		err := object.read(d)
		var bad *rowError
		if errors.As(err, &bad) {
			bad.row, bad.inferred = n, f.inferred
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return builder.NewRecord(), nil
}

// jsonText is a block of JSON that is being taken apart.
type jsonText struct{ *json.Decoder }

// eachObject calls read behind the opening brace of each object in a block, with
// its number from 1. Each must have a line of its own.
func eachObject(block []byte, read func(n int64, d *jsonText) error) error {
	if at := invalidUTF8(block); at >= 0 {
		return fmt.Errorf("it is not UTF-8: %.*q", maxShown, block[max(at-20, 0):min(at+20, len(block))])
	}
	d := &jsonText{json.NewDecoder(bytes.NewReader(block))}
	d.UseNumber()
	for n, end := int64(1), int64(0); ; n++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		start := d.InputOffset()
		if err == nil && n > 1 && bytes.IndexByte(block[end:start], '\n') < 0 {
			err = errors.New("it begins on the line of the one before")
		}
		if err == nil && token != json.Delim('{') {
			err = errors.New("a row is a JSON object")
		}
		if err == nil {
			err = read(n, d)
			end = d.InputOffset()
		}
		if err == nil && bytes.IndexByte(block[start:end], '\n') >= 0 {
			err = errors.New("the object goes over several lines")
		}
		if err != nil {
			return asRow(n, err)
		}
	}
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// asRow makes err an error of row n, unless it is one of a row already.
func asRow(n int64, err error) error {
	var bad *rowError
	if errors.As(err, &bad) {
		bad.row = n
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &rowError{row: n, err: err}
}
