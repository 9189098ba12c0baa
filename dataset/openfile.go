package dataset

import (
	"context"

	"github.com/heirloom-ml/heirloom/store"
)

// OpenFile opens one Parquet file as it was described when it was written, by TableWriter.Close or in a manifest. All
// that is read of it is held against its checksums. It takes one request for each MiB of the footer, mostly one.
// Errors are those of Open.
func OpenFile(ctx context.Context, s *store.Store, key store.Key, file File) (*Reader, error) {
	r := &Reader{store: s, dir: key, single: true, files: []File{file}, versions: []string{""}, keys: make([][]partitionKey, 1)}
	return r, r.readSchema(ctx, 1)
}
