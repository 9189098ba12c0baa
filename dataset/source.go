package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Identify says what lies at key, an object or a directory, so that other bytes
// there are another source: by what the store calls its version, or with hash by
// its content, which is read for it. The error has kind store.ErrNotExist if there
// is nothing.
func Identify(ctx context.Context, s *store.Store, key store.Key, hash bool) (Source, error) {
	uri, err := store.CanonicalURI(s.KeyURL(key), "")
	if err != nil {
		return Source{}, err
	}
	source := Source{URI: uri}
	object, err := s.Stat(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotExist):
		return identifyDir(ctx, s, key, source, hash)
	case err != nil:
		return Source{}, err
	case hash || object.Version == "":
		source.Digest, err = digestOf(ctx, s, key)
		return source, err
	}
	source.Version = object.Version
	return source, nil
}

// identifyDir digests the names below a directory with the identity of each.
func identifyDir(ctx context.Context, s *store.Store, dir store.Key, source Source, hash bool) (Source, error) {
	sum, files := sha256.New(), 0
	for object, err := range s.List(ctx, string(dir)+"/") {
		if err != nil {
			return Source{}, err
		}
		identity := object.Version
		if hash || identity == "" {
			digest, err := digestOf(ctx, s, object.Key)
			if err != nil {
				return Source{}, err
			}
			identity = string(digest)
		}
		name := strings.TrimPrefix(string(object.Key), string(dir)+"/")
		sum.Write(netstring(netstring(nil, name), identity))
		files++
	}
	if files == 0 {
		return Source{}, failure("find source", dir, store.ErrNotExist, fmt.Errorf("there is nothing at %s", source.URI))
	}
	source.Digest = store.Digest(hex.EncodeToString(sum.Sum(nil)))
	return source, nil
}

func digestOf(ctx context.Context, s *store.Store, key store.Key) (store.Digest, error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	return store.Digest(hex.EncodeToString(sum.Sum(nil))), nil
}
