package hdfsblob

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// patiently tries again what is unavailable, for ten minutes.
func patiently(ctx context.Context, do func() error) error {
	for deadline := time.Now().Add(10 * time.Minute); ; {
		err := do()
		if !errors.Is(err, dirtree.ErrUnavailable) || time.Now().After(deadline) {
			return err
		}
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
}

// putLong stores what r yields in parts of 4 MiB, patiently.
func putLong(t *testing.T, b *Bucket, key string, r io.Reader) error {
	t.Helper()
	ctx := t.Context()
	var token string
	err := patiently(ctx, func() (err error) {
		token, err = b.Begin(ctx, key)
		return err
	})
	var parts []Part
	for err == nil {
		body, readErr := io.ReadAll(io.LimitReader(r, 4<<20))
		if readErr != nil || len(body) == 0 {
			break
		}
		p := Part{Size: int64(len(body))}
		err = patiently(ctx, func() (err error) {
			p.Tag, err = b.PutPart(ctx, key, token, bytes.NewReader(body), p.Size, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
			return err
		})
		parts = append(parts, p)
	}
	if err != nil {
		return err
	}
	return patiently(ctx, func() error {
		_, err := b.Complete(ctx, key, token, parts, dirtree.Replace, "")
		return err
	})
}

func second[A any](_ A, err error) error { return err }
