package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/heirloom-ml/heirloom/store/internal/hdfsblob"
)

var _ parted = (*hdfsBackend)(nil)

func (b *hdfsBackend) partSize(size, want int64) int64 { return b.bucket.PartSize(size, want) }

// begin needs no id: the inode tells whose object it is.
func (b *hdfsBackend) begin(ctx context.Context, key, _ string) (string, error) {
	token, err := b.bucket.Begin(ctx, key)
	return token, treeError(err)
}

func (b *hdfsBackend) part(ctx context.Context, key, token string, _ int, body *io.SectionReader, crc uint32) (string, error) {
	tag, err := b.bucket.PutPart(ctx, key, token, body, body.Size(), crc)
	return tag, hdfsUploadError(err)
}

func (b *hdfsBackend) complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	list := make([]hdfsblob.Part, len(parts))
	for i, p := range parts {
		list[i] = hdfsblob.Part{Size: p.size, Tag: p.tag}
	}
	o, err := b.bucket.Complete(ctx, key, token, list, treeMode(cond.absent), cond.id)
	return treeObject(o), hdfsUploadError(err)
}

// hdfsUploadError is treeError where only the upload can be missing.
func hdfsUploadError(err error) error {
	if err = treeError(err); errors.Is(err, ErrNotExist) {
		return fmt.Errorf("%w: %w", errUploadGone, brief(err))
	}
	return err
}

func (b *hdfsBackend) abort(ctx context.Context, key, token string) error {
	return treeError(b.bucket.Abort(ctx, key, token))
}

func (b *hdfsBackend) unfinished(ctx context.Context, prefix string) iter.Seq2[upload, error] {
	return func(yield func(upload, error) bool) {
		for u, err := range b.bucket.Unfinished(ctx, prefix) {
			if !yield(upload{key: u.Key, token: u.Token, begun: u.Begun}, treeError(err)) {
				return
			}
		}
	}
}
