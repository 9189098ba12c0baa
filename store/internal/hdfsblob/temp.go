package hdfsblob

import (
	"context"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

const (
	sweepAge = 72 * time.Hour
	// keepAge is how long an upload in parts is kept after the last of them, for a process that goes on with it.
	keepAge = 7 * 24 * time.Hour
)

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
		_, _ = b.Sweep(ctx, sweepAge, keepAge)
	}
}

// Sweep removes the temporary files that were begun at least age ago, and the uploads in parts to which nothing was
// added for as long as keep, and says how many. What a crash leaves behind costs space and nothing else.
func (b *Bucket) Sweep(ctx context.Context, age, keep time.Duration) (removed int, err error) {
	err = b.with(ctx, "sweep", b.root, func(c *client) error {
		temps, err := c.temps()
		for _, t := range temps {
			var ok bool
			if err == nil {
				ok, err = c.sweep(t, age, keep)
			}
			if ok {
				removed++
			}
		}
		return err
	})
	return removed, err
}

// sweep removes a temporary file or an upload that is old enough.
func (c *client) sweep(t *hdfs.FileStatus, age, keep time.Duration) (bool, error) {
	temp, last := path.Join(c.bucket.root, string(t.GetPath())), inodeOf(t).ModTime
	if t.GetFileType() != isDir {
		if time.Since(last) < age {
			return false, nil
		}
		return c.remove(temp)
	}
	_, last, err := c.uploadOf(temp, last)
	if err != nil || time.Since(last) < keep {
		return false, err
	}
	return c.removeAll(temp)
}
