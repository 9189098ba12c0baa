package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/heirloom-ml/heirloom/store"
)

// point makes latest.json and views.sql tell of a version, unless they tell of it or a higher one.
func (p *publisher) point(ctx context.Context, m *Manifest) error {
	body, err := encode(m)
	if err != nil {
		return err
	}
	if err := advance(ctx, p.store, p.root.Join(latestName), m.Number, body, latestNumber); err != nil {
		return err
	}
	return advance(ctx, p.store, p.root.Join(viewsName), m.Number, []byte(Views(p.store, m)), viewsNumber)
}

func latestNumber(body []byte) int64 {
	var head struct{ Number int64 }
	if json.Unmarshal(body, &head) != nil {
		return 0
	}
	return head.Number
}

// viewsNumber reads the first line of views.sql.
func viewsNumber(body []byte) int64 {
	var n int64
	line, _, _ := bytes.Cut(body, []byte("\n"))
	if _, err := fmt.Sscanf(string(line), viewsHead, &n); err != nil {
		return 0
	}
	return n
}

// advance replaces a pointer of a lower number: by compare-and-swap, or where the backend has none by a put, after
// which the publisher looks once more who is ahead.
func advance(ctx context.Context, s *store.Store, key store.Key, number int64, body []byte, numberOf func([]byte) int64) error {
	for {
		found, version, err := getVersion(ctx, s, key)
		switch {
		case errors.Is(err, store.ErrNotExist):
			err = s.Create(ctx, key, body)
		case err != nil:
			return err
		case numberOf(found) >= number:
			return nil
		case s.Capabilities().Replace:
			err = s.Replace(ctx, key, body, version)
		default:
			err = s.Put(ctx, key, body)
		}
		if !errors.Is(err, store.ErrExist) && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

func getVersion(ctx context.Context, s *store.Store, key store.Key) ([]byte, string, error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	return body, r.Object().Version, err
}
