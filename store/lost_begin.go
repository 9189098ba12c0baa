package store

import (
	"context"
	"time"
)

// span is a stretch of time by the clock of this process.
type span struct{ from, to time.Time }

// forgetful is a parted backend whose begin opens another upload each time, so
// that a try whose answer was lost leaves one that nobody knows.
type forgetful interface {
	// nameless finds the uploads of key other than that of token that have no
	// part, and were begun not longer than oldest ago and not later than newest ago
	// by the clock of the far side. It may take several requests.
	nameless(ctx context.Context, key, token string, oldest, newest time.Duration) ([]upload, error)
}

// dropLost gives up what begin opened without our learning of it, also when ctx
// has ended. No upload tells who began it, so it goes by the time: what was begun
// while we tried and has no part yet, though all of ours have arrived, is ours,
// or that of a writer of the same key which has sent nothing and begins again.
// What cannot be dropped now is left to Unfinished.
func (w *longWrite) dropLost(ctx context.Context) {
	back, ok := w.back.(forgetful)
	lost := w.lost
	if w.lost = nil; !ok || lost == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	var list []upload
	_, err := w.store.do(ctx, Request{Op: "list", Key: string(w.key)}, func(ctx context.Context) (err error) {
		list, err = back.nameless(ctx, w.full, w.token, time.Since(lost.from), time.Since(lost.to))
		return err
	})
	for _, u := range list {
		if err != nil {
			return
		}
		err = w.store.abortUpload(ctx, w.back, w.key, u.key, u.token)
	}
}
