package store

import "context"

// Delete removes an object; the error is ErrNotExist if there is none. On S3,
// which does not tell, this takes a second request that asks before.
func (s *Store) Delete(ctx context.Context, key Key) error {
	full, err := s.full(key)
	if err != nil {
		return s.wrap("delete", string(key), err)
	}
	if _, ok := s.back.(blind); ok {
		if _, err := s.Stat(ctx, key); err != nil {
			return s.renamed("delete", err)
		}
	}
	unsure, err := s.do(ctx, Request{Op: "delete", Key: string(key)}, func(ctx context.Context) error {
		return s.back.remove(ctx, full)
	})
	if unsure && isNotExist(err) {
		return nil // an earlier try of ours removed it
	}
	return err
}
