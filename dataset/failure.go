package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
)

// failure makes the error of this package: what was tried, on which file, and
// the kind, one of package store's.
func failure(op string, key store.Key, kind, cause error) error {
	return &store.Error{Op: op, Key: string(key), Kind: kind, Err: cause}
}

// guarded runs f, which calls the Parquet library, and turns a panic in it into
// an error of that kind which names the file. The library panics on much of what
// it finds malformed.
func guarded(op string, key store.Key, kind error, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = failure(op, key, kind, fmt.Errorf("the Parquet library gave up: %v", cause))
		}
	}()
	return f()
}

// ErrIncomplete is the cause where a directory holds the files of a dataset that
// was never finished. The kind of such an error is store.ErrCorrupt.
var ErrIncomplete = errors.New("the dataset was never finished")

func errVersion(version int) error {
	return fmt.Errorf("format version %d; this program reads %d", version, formatVersion)
}

// unsupportedError is about a file that may well be sound, but cannot be read.
type unsupportedError struct{ text, advice string }

func unsupported(format string, args ...any) error {
	return &unsupportedError{text: fmt.Sprintf(format, args...)}
}

// unread is about what other programs read, so that one of them can write it again.
func unread(text string) error {
	return &unsupportedError{text: text, advice: "; read it with Spark, pyarrow or DuckDB, as far as they can, and write it again with zstd"}
}

func encrypted(what string) error {
	return &unsupportedError{text: what, advice: "; decrypt it with the program and the keys that wrote it"}
}

func (e *unsupportedError) Error() string { return e.text + " is not supported" + e.advice }

// classify gives an error of decoding a file its kind: that of the store is kept,
// what cannot be read is unsupported, everything else means a corrupt file.
func classify(op string, key store.Key, err error) error {
	var classified *store.Error
	var cannot *unsupportedError
	switch {
	case err == nil, errors.As(err, &classified), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &cannot):
		return failure(op, key, store.ErrUnsupported, err)
	}
	return failure(op, key, store.ErrCorrupt, err)
}
