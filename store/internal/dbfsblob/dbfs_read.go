package dbfsblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strconv"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// blockReader reads a range block by block. The requests name no version, so before the last block is handed out the
// object is looked at again: who reads to the end knows that all came from one version. An object that came whole with
// one request needs no second look.
type blockReader struct {
	ctx    context.Context // of Open: a reader is one operation
	api    *dbfs
	file   string
	object dirtree.Object
	at     int64 // offset of the next request
	end    int64
	block  []byte // what is left of the last one
}

func (r *blockReader) Read(p []byte) (int, error) {
	if len(r.block) == 0 {
		if r.at == r.end {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.block)
	r.block = r.block[n:]
	return n, nil
}

func (r *blockReader) Close() error { return nil }

func (r *blockReader) next() error {
	if r.at == r.end {
		return nil
	}
	whole := r.at == 0 && r.end == r.object.Size && r.end < r.api.block
	want := min(r.end-r.at, r.api.block)
	ask := want
	if whole {
		ask++ // shows one that has grown
	}
	block, err := r.api.readBlock(r.ctx, r.file, r.at, ask)
	if errors.Is(err, fs.ErrNotExist) {
		return &dirtree.Error{Kind: dirtree.ErrConflict, Err: errors.New("it was deleted while it was read")}
	}
	if err != nil {
		return err
	}
	if last := r.at+want == r.end; int64(len(block)) != want || last && !whole {
		if err := r.unchanged(); err != nil {
			return err
		}
	}
	if int64(len(block)) != want {
		return &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("%d bytes came at %d, want %d", len(block), r.at, want)}
	}
	r.at += want
	r.block = block
	return nil
}

func (r *blockReader) unchanged() error {
	o, err := r.api.stat(r.ctx, r.file)
	if err == nil && o.Version != r.object.Version || errors.Is(err, fs.ErrNotExist) {
		return &dirtree.Error{Kind: dirtree.ErrConflict, Err: errors.New("it was replaced while it was read")}
	}
	return err
}

func (d *dbfs) readBlock(ctx context.Context, file string, offset, length int64) ([]byte, error) {
	var answer struct {
		Read int64  `json:"bytes_read"`
		Data []byte `json:"data"` // base64
	}
	err := d.get(ctx, "read", url.Values{
		"path": {file}, "offset": {strconv.FormatInt(offset, 10)}, "length": {strconv.FormatInt(length, 10)},
	}, &answer)
	if err == nil && answer.Read != int64(len(answer.Data)) {
		err = &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("%d bytes came of %d", len(answer.Data), answer.Read)}
	}
	return answer.Data, err
}
