package dataset

import (
	"context"
	"errors"

	"github.com/heirloom-ml/heirloom/store"
)

// State tells whether there is a dataset.
type State string

// The states. That a place cannot be reached is none of them, but an error: it
// says nothing of what lies there.
const (
	Absent     State = "absent"     // no Parquet files, and no sign that some are being written
	Incomplete State = "incomplete" // someone writes it, or died while doing so
	Present    State = "present"    // Open will look at its files
)

// Status tells what lies at dir, from names alone: no file is read. The error is
// the store's, or has kind store.ErrUnsupported for a Delta or Iceberg table and
// for data below directories that are no partitions.
func Status(ctx context.Context, s *store.Store, dir store.Key) (State, error) {
	f, err := list(ctx, s, dir)
	if errors.Is(err, store.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	if f.unfinished() != "" {
		return Incomplete, nil
	}
	err = f.finished()
	if errors.Is(err, store.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	return Present, nil
}

// IsParquetDataset is Horovod's question: whether what lies at dir may be read.
// It is false, without an error, for what is absent or incomplete.
func IsParquetDataset(ctx context.Context, s *store.Store, dir store.Key) (bool, error) {
	state, err := Status(ctx, s, dir)
	return state == Present, err
}
