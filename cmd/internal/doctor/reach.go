package doctor

import (
	"context"

	"github.com/heirloom-ml/heirloom/store"
)

// Reach asks the far side one question that any store answers, so that an address or credential that is wrong shows
// itself before anything is written.
func Reach(ctx context.Context, s *store.Store) error {
	for _, err := range s.List(ctx, "") {
		return err
	}
	return nil
}
