package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/heirloom-ml/heirloom/store"
)

// arrowMagic begins an Arrow IPC file. What does not begin so is a stream.
const arrowMagic = "ARROW1"

// arrow reads an Arrow IPC file or stream.
func (r *reading) arrow(ctx context.Context, file inputFile, s *stream) error {
	if head, _ := s.Peek(len(arrowMagic)); string(head) != arrowMagic {
		return r.arrowStream(ctx, s)
	}
	if s.packed {
		return errors.New("an Arrow file compressed as a whole is not read; its buffers can be, and a stream")
	}
	blocks, err := newBlockFile(ctx, file.store, file.key, File{Bytes: file.size}, file.version)
	if err != nil {
		return err
	}
	raw := &blockReader{file: blocks}
	var batches *ipc.FileReader
	err = guardedInput(func() (err error) {
		batches, err = ipc.NewFileReader(io.NewSectionReader(raw, 0, file.size))
		return err
	})
	if err != nil {
		return raw.cause(err)
	}
	at := 0
	return r.decoded(ctx, func() (batch arrow.Record, err error) {
		if at == batches.NumRecords() {
			return nil, io.EOF
		}
		err = guardedInput(func() (err error) {
			batch, err = batches.RecordAt(at)
			return err
		})
		at++
		return batch, raw.cause(err)
	})
}

// arrowStream reads a stream to its end mark. The library takes one that breaks
// off for complete.
func (r *reading) arrowStream(ctx context.Context, s *stream) error {
	tail := &tailReader{r: s}
	var batches *ipc.Reader
	err := guardedInput(func() (err error) {
		batches, err = ipc.NewReader(tail)
		return err
	})
	if err != nil {
		return err
	}
	return r.decoded(ctx, func() (batch arrow.Record, err error) {
		err = guardedInput(func() (err error) {
			batch, err = batches.Read()
			return err
		})
		if errors.Is(err, io.EOF) && tail.last != [4]byte{} {
			return nil, errors.New("the stream breaks off: it has no end mark")
		}
		if err == nil {
			batch.Retain() // until the next call it is the reader's
		}
		return batch, err
	})
}

// blockReader reads a file at random for the Arrow library.
type blockReader struct {
	file   *blockFile
	failed error // the first error of the store, which the library may hide
}

func (r *blockReader) ReadAt(p []byte, offset int64) (int, error) {
	n := int(min(int64(len(p)), r.file.size-offset))
	data, _, err := r.file.view(offset, n, nil)
	if err != nil {
		r.failed = err
		return 0, err
	}
	copy(p, data)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *blockReader) cause(err error) error {
	if err != nil && r.failed != nil {
		return r.failed
	}
	return err
}

// tailReader remembers the last bytes that were read. They are zero at the end of a stream.
type tailReader struct {
	r    io.Reader
	last [4]byte
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	kept := append(t.last[:], p[max(n-len(t.last), 0):n]...)
	copy(t.last[:], kept[len(kept)-len(t.last):])
	if n == 0 && err != nil {
		t.last = [4]byte{0xff} // something more was wanted
	}
	return n, err
}

// guardedInput turns a panic of the Arrow library into an error.
func guardedInput(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the Arrow library gave up: %v", cause)
		}
	}()
	return f()
}

// parquet reads a Parquet file.
func (r *reading) parquet(ctx context.Context, file inputFile) error {
	table, err := Open(ctx, file.store, file.key)
	if err != nil {
		return err
	}
	if table.versions[0] != file.version {
		return failure("read", file.key, store.ErrConflict, errors.New("it was replaced meanwhile"))
	}
	for batch, err := range table.Batches(ctx, nil) {
		if err != nil {
			return err
		}
		if err := r.decodedBatch(ctx, batch.Record); err != nil {
			return err
		}
	}
	return nil
}

// decoded hands on batches, which next decodes on one core while those before are
// written on others.
func (r *reading) decoded(ctx context.Context, next func() (arrow.Record, error)) error {
	same := func(batch arrow.Record) (arrow.Record, error) { return batch, nil }
	return inOrder(ctx, next, same, func(batch arrow.Record) error {
		defer batch.Release()
		return r.decodedBatch(ctx, batch)
	})
}

func (r *reading) decodedBatch(ctx context.Context, batch arrow.Record) error {
	plain, err := withoutDictionaries(ctx, batch)
	if err != nil {
		return err
	}
	defer plain.Release()
	if err := r.take(plain.Schema()); err != nil {
		return err
	}
	return r.emit(ctx, plain)
}

// withoutDictionaries replaces columns that are encoded with a dictionary by their values: the
// writer decides anew where one pays.
func withoutDictionaries(ctx context.Context, batch arrow.Record) (arrow.Record, error) {
	list := batch.Schema().Fields()
	columns := make([]arrow.Array, len(list))
	defer func() {
		for _, column := range columns {
			if column != nil {
				column.Release()
			}
		}
	}()
	for i := range list {
		dictionary, ok := batch.Column(i).(*array.Dictionary)
		if !ok {
			columns[i] = batch.Column(i)
			columns[i].Retain()
			continue
		}
		values, err := compute.TakeArray(ctx, dictionary.Dictionary(), dictionary.Indices())
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", list[i].Name, err)
		}
		columns[i] = values
		list[i].Type = values.DataType()
	}
	return array.NewRecord(arrow.NewSchema(list, nil), columns, batch.NumRows()), nil
}
