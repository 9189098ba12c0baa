package store

import "context"

func openGCS(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("gs", "GCS")(ctx, rest, opts)
}

func shown(url string) string { return url }
