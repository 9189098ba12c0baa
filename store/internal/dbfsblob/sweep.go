package dbfsblob

import (
	"context"
	"path"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	// sweepAge is far beyond the longest pause in a write that still goes on.
	sweepAge     = 72 * time.Hour
	sweepTimeout = 10 * time.Second
)

// sweepOnce removes what crashes left long ago, before the first write of the process. What it cannot do it leaves to the
// next one. In volumes there is nothing to sweep.
func (b *Bucket) sweepOnce(ctx context.Context) {
	b.mu.Lock()
	swept := b.swept
	b.swept = true
	b.mu.Unlock()
	if swept || b.Volume() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	_, _ = b.Sweep(ctx, sweepAge)
}

// Sweep removes the temporary files that nobody has written to for at least age and says how many. What a crash leaves
// behind costs space and nothing else.
func (b *Bucket) Sweep(ctx context.Context, age time.Duration) (removed int, err error) {
	names, err := b.api.list(ctx, b.root)
	for _, n := range names {
		if n.IsDir || !keyname.IsTemp(n.Elem) || time.Since(n.Object.ModTime) < age {
			continue
		}
		if err := b.api.remove(ctx, path.Join(b.root, n.Elem)); err != nil {
			return removed, wrap("sweep", b.root, err)
		}
		removed++
	}
	return removed, wrap("sweep", b.root, err)
}
