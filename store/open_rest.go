package store

import "context"

func openS3(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("s3", "S3")(ctx, rest, opts)
}
func openGCS(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("gs", "GCS")(ctx, rest, opts)
}
