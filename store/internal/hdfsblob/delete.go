package hdfsblob

import (
	"context"
	"path"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// Delete implements driver.Bucket; opts may be nil. It removes the object and with it the directories that it leaves
// empty, up to that of the bucket.
func (b *Bucket) Delete(ctx context.Context, key string, opts *driver.DeleteOptions) error {
	if opts != nil {
		if err := dirtree.Before(opts.BeforeDelete, dirtree.NoAs); err != nil {
			return err
		}
	}
	file := b.Path(key)
	return b.with(ctx, "delete", file, func(c *client) error {
		if _, err := c.statFile(file); err != nil {
			return err
		}
		if _, err := c.remove(file); err != nil {
			return err
		}
		c.prune(path.Dir(file))
		return nil
	})
}

// prune removes dir and those above it while they are empty. The NameNode refuses for one that is not.
func (c *client) prune(dir string) {
	for dir := range dirtree.Above(dir, c.bucket.root) {
		if ok, err := c.remove(dir); err != nil || !ok {
			return
		}
	}
}
