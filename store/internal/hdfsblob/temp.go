package hdfsblob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

const (
	tempStart = ".heirloom-"
	tempEnd   = ".tmp"
	sweepAge  = 72 * time.Hour
	// sweepSample bounds what the first write of a process looks at in a large directory.
	sweepSample = 1000
)

// isTemp says whether name is that of one of our temporary files.
func isTemp(name string) bool {
	return strings.HasPrefix(name, tempStart) && strings.HasSuffix(name, tempEnd)
}

func newTempName() string {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return tempStart + hex.EncodeToString(id[:]) + tempEnd
}

// removeTemp takes a temporary file back, also where the context has ended. Failing is no harm: it is swept later.
func (b *Bucket) removeTemp(ctx context.Context, temp string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	_ = b.with(ctx, "remove", temp, func(c *client) error {
		_, err := c.remove(temp)
		return err
	})
}

// sweepOnce removes what crashes left long ago. What it cannot do it leaves to the next process.
func (b *Bucket) sweepOnce(ctx context.Context) {
	b.mu.Lock()
	swept := b.swept
	b.swept = true
	b.mu.Unlock()
	if !swept {
		_, _ = b.Sweep(ctx, sweepAge)
	}
}

// Sweep removes the temporary files that were begun at least age ago, among the first of the directory, and says how
// many. What a crash leaves behind costs space and nothing else.
func (b *Bucket) Sweep(ctx context.Context, age time.Duration) (removed int, err error) {
	err = b.with(ctx, "sweep", b.root, func(c *client) error {
		dir, err := c.Open(b.root)
		if err != nil {
			return err
		}
		defer dir.Close()
		infos, err := dir.Readdir(sweepSample)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, info := range infos {
			if !isTemp(info.Name()) || info.IsDir() || time.Since(info.ModTime()) < age {
				continue
			}
			ok, err := c.remove(path.Join(b.root, info.Name()))
			if err != nil {
				return err
			}
			if ok {
				removed++
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return removed, err
}
