package store

import "context"

func openPath(path string, opts Options) (*Store, error) {
	return openLater("file", "local disk")(context.Background(), path, opts)
}
func openFile(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("file", "local disk")(ctx, rest, opts)
}
func openS3(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("s3", "S3")(ctx, rest, opts)
}
func openGCS(ctx context.Context, rest string, opts Options) (*Store, error) {
	return openLater("gs", "GCS")(ctx, rest, opts)
}
