package store

import (
	"context"
	"strings"
	"sync"
)

// Store is a directory of objects. It is safe for concurrent use.
type Store struct {
	*core
	prefix string // "" or ends in a slash
}

// core is what a store shares with its Subs.
type core struct {
	place place
	back  backend
	opts  Options
	meter meter
	lines lineQueues

	streams streamBuffers

	closing sync.Once
	closed  error // set in closing
}

// Open returns the store at url: a local path, file://, mem://, s3://bucket/prefix,
// gs://bucket/prefix, hdfs://host/path or dbfs:/path. Paths in a URL stand for themselves, without percent
// escapes, as in fsspec. Nothing is created before the first write, and no
// remote is contacted. opts may be nil. The error has kind ErrInvalid or
// ErrUnsupported. The caller closes the store.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	s, err := openScheme(ctx, url, *opts)
	if err == nil {
		_, err = NewLayout(opts.layout(s.KeyURL("")))
	}
	if err != nil {
		return nil, wrap("open", RedactURL(url), err)
	}
	return s, nil
}

// newStore puts a store on a backend.
func newStore(p place, prefix string, b backend, opts Options) *Store {
	return &Store{core: &core{place: p, back: b, opts: opts}, prefix: slashed(prefix)}
}

// Sub is the store below prefix, on the same connections. Only the parent is
// closed. An invalid prefix shows itself in the first use.
func (s *Store) Sub(prefix Key) *Store {
	return &Store{core: s.core, prefix: s.prefix + slashed(string(prefix))}
}

// Capabilities says what the backend promises beyond the contract.
func (s *Store) Capabilities() Capabilities {
	c := s.back.capabilities()
	_, c.Resume = s.back.(parted)
	return c
}

// Close releases the connections. Calls after the first change nothing.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if err := s.back.close(); err != nil {
			s.closed = wrap("close", "", err)
		}
	})
	return s.closed
}

// full is the backend's key for key, checked.
func (s *Store) full(key Key) (string, error) {
	full := s.prefix + string(key)
	if err := checkKey(string(key)); err != nil {
		return "", invalid(err)
	}
	if err := checkKey(full); err != nil {
		return "", invalid(err)
	}
	return full, nil
}

func slashed(prefix string) string {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return prefix
	}
	return prefix + "/"
}
