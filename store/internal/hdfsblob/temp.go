package hdfsblob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

const (
	tempStart = ".heirloom-"
	tempEnd   = ".tmp"
	sweepAge  = 72 * time.Hour
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

// Sweep removes the temporary files that were begun at least age ago and says how many. What a crash leaves behind costs
// space and nothing else.
func (b *Bucket) Sweep(ctx context.Context, age time.Duration) (removed int, err error) {
	err = b.with(ctx, "sweep", b.root, func(c *client) error {
		var old []string
		err := c.list(b.root, tempStart, func(status *hdfs.FileStatus) bool {
			name := string(status.GetPath())
			if isTemp(name) && status.GetFileType() != isDir && time.Since(objectOf(status).ModTime) >= age {
				old = append(old, name)
			}
			return strings.HasPrefix(name, tempStart)
		})
		for _, name := range old {
			if err != nil {
				break
			}
			var ok bool
			if ok, err = c.remove(path.Join(b.root, name)); ok {
				removed++
			}
		}
		return err
	})
	return removed, err
}
