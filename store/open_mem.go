package store

import (
	"context"
	"strings"

	"gocloud.dev/blob/memblob"
)

// openMem makes an empty store in memory that belongs to the caller alone: two
// Opens of one URL share nothing.
func openMem(_ context.Context, rest string, opts Options) (*Store, error) {
	prefix := strings.Trim(rest, "/")
	if prefix != "" {
		if err := checkKey(prefix); err != nil {
			return nil, invalid(err)
		}
	}
	back := &memBackend{bucketBackend: &bucketBackend{bucket: memblob.OpenBucket(nil)}}
	return newStore(place{scheme: "mem"}, prefix, back, opts), nil
}
