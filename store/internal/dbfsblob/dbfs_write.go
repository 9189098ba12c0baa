package dbfsblob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	cleanTimeout = 15 * time.Second // for taking back what a failed write left
	blockTries   = 6
	firstPause   = 100 * time.Millisecond
)

// write replaces a small object with one request, which is the nearest that the API has to one step. All else goes
// through a temporary file.
func (d *dbfs) write(ctx context.Context, file string, body []byte, mode dirtree.Mode) error {
	if mode == dirtree.Replace && int64(len(body)) <= d.block {
		return d.inTheWay(ctx, file, d.put(ctx, file, body))
	}
	_, err := d.viaTemp(ctx, file, mode, func(temp string) (int64, error) {
		if int64(len(body)) <= d.block {
			return int64(len(body)), d.put(ctx, temp, body)
		}
		return int64(len(body)), d.upload(ctx, temp, bytes.NewReader(body))
	})
	return err
}

func (d *dbfs) stream(ctx context.Context, file string, r io.Reader, mode dirtree.Mode) (int64, error) {
	return d.viaTemp(ctx, file, mode, func(temp string) (int64, error) {
		sent := &source{r: r}
		err := d.upload(ctx, temp, sent)
		return sent.size, err
	})
}

// viaTemp fills a file under a name that nobody else has, checks its size, and gives it its name.
func (d *dbfs) viaTemp(ctx context.Context, file string, mode dirtree.Mode, fill func(temp string) (int64, error)) (int64, error) {
	temp := path.Join(d.root, keyname.NewTemp())
	size, err := fill(temp)
	if err == nil {
		err = d.check(ctx, temp, size)
	}
	if err == nil {
		err = d.publish(ctx, temp, file, mode)
	}
	if err != nil {
		d.removeTemp(ctx, temp)
		return 0, err
	}
	return size, nil
}

// check wants the file to have that size, since the API takes no checksum.
func (d *dbfs) check(ctx context.Context, file string, size int64) error {
	o, err := d.stat(ctx, file)
	if err == nil && o.Size != size {
		err = &dirtree.Error{Kind: dirtree.ErrCorrupt, Err: fmt.Errorf("the workspace holds %d bytes of %d", o.Size, size)}
	}
	return err
}

// put writes a file with one request. Doing it again does no harm.
func (d *dbfs) put(ctx context.Context, file string, body []byte) error {
	return d.post(ctx, "put", struct {
		Path      string `json:"path"`
		Contents  []byte `json:"contents"` // base64
		Overwrite bool   `json:"overwrite"`
	}{file, body, true}, nil)
}

// upload writes a file block by block.
func (d *dbfs) upload(ctx context.Context, file string, r io.Reader) error {
	var h handle
	err := d.post(ctx, "create", struct {
		Path      string `json:"path"`
		Overwrite bool   `json:"overwrite"`
	}{file, false}, &h)
	if err != nil {
		return err
	}
	err = d.addBlocks(ctx, h, r)
	if err != nil {
		ctx, cancel := clean(ctx)
		defer cancel()
		_ = d.post(ctx, "close", h, nil) // the file is dropped; an open handle would bring it back
		return err
	}
	return d.post(ctx, "close", h, nil)
}

type handle struct {
	Handle int64 `json:"handle"`
}

func (d *dbfs) addBlocks(ctx context.Context, h handle, r io.Reader) error {
	block := make([]byte, d.block)
	for {
		n, err := io.ReadFull(r, block)
		if n > 0 {
			if err := d.addBlock(ctx, h, block[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// addBlock tries again only what the workspace refused for its rate: after a lost answer it may have taken the block.
func (d *dbfs) addBlock(ctx context.Context, h handle, data []byte) error {
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		err := d.post(ctx, "add-block", struct {
			Handle int64  `json:"handle"`
			Data   []byte `json:"data"` // base64
		}{h.Handle, data}, nil)
		if statusOf(err) != http.StatusTooManyRequests || try == blockTries {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

func clean(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
}

// removeTemp takes a temporary file back, also where the context has ended. Failing is no harm: it is swept later.
func (d *dbfs) removeTemp(ctx context.Context, temp string) {
	ctx, cancel := clean(ctx)
	defer cancel()
	_ = d.post(ctx, "delete", pathAndRecursion{Path: temp}, nil)
}
