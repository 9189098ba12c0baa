package store

import (
	"context"
	"errors"
	"io"
	"iter"
)

// localPart is the size of a part where nobody wants another. Shorter files are
// written in one step.
const localPart = 8 << 20

func (b *localBackend) partSize(_, want int64) int64 {
	if want > 0 {
		return want
	}
	return localPart
}

func (b *localBackend) begin(ctx context.Context, key, _ string) (string, error) {
	return b.bucket.BeginUpload(ctx, key)
}

// part has no place for a part without its offset.
func (b *localBackend) part(context.Context, string, string, int, *io.SectionReader, uint32) (string, error) {
	return "", ErrUnsupported
}

func (b *localBackend) partAt(ctx context.Context, _, token string, offset int64, body *io.SectionReader) (uint32, error) {
	return b.bucket.WriteAt(ctx, token, offset, body)
}

// holds reads the part back: a loss of power may have taken what was not flushed
// yet.
func (b *localBackend) holds(ctx context.Context, _, token string, _ int, offset int64, p part) (bool, error) {
	crc, err := b.bucket.SumAt(ctx, token, offset, p.size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil && crc == p.crc, err
}

func (b *localBackend) complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	_, size := crcOfParts(parts)
	obj, err := b.bucket.CompleteUpload(ctx, key, token, size, treeMode(cond.absent))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = &Error{Kind: ErrCorrupt, Err: err}
	}
	return treeObject(obj), err
}

func (b *localBackend) abort(ctx context.Context, _, token string) error {
	return b.bucket.AbortUpload(ctx, token)
}

func (b *localBackend) unfinished(ctx context.Context, prefix string) iter.Seq2[upload, error] {
	return func(yield func(upload, error) bool) {
		for u, err := range b.bucket.Uploads(ctx, prefix) {
			if !yield(upload{u.Key, u.Token, u.Begun}, err) {
				return
			}
		}
	}
}
