package hdfsblob

import "context"

// lease is the use of one client for a stream. The end of its context closes the client's connections.
type lease struct {
	ctx    context.Context // of the one stream that it serves
	bucket *Bucket
	client *client
	stop   func() bool
}

// hold runs f on a client of its own and keeps it for the caller, who ends the lease. Where a kept connection turns
// out to be dead, as after a restart of the NameNode, f runs once more on another one; it must bear that.
func (b *Bucket) hold(ctx context.Context, op, path string, f func(c *client) error) (*lease, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, wrap(op, path, err)
		}
		c, err := b.take(ctx)
		if err != nil {
			return nil, wrap(op, path, err)
		}
		l := &lease{ctx: ctx, bucket: b, client: c}
		l.stop = context.AfterFunc(ctx, func() { c.guard.close(ctx.Err()) })
		stale := c.used
		err = l.do(f)
		if err == nil {
			return l, nil
		}
		l.end(err)
		if answered(err) || !stale || ctx.Err() != nil {
			return nil, wrap(op, path, err)
		}
	}
}

// do runs f and says of its error what the library leaves out.
func (l *lease) do(f func(c *client) error) error {
	return because(l.ctx, l.client.guard, f(l.client))
}

// end gives the client back; err is how its use ended.
func (l *lease) end(err error) {
	l.stop()
	l.bucket.give(l.client, err)
}

// with is hold for something that ends with f.
func (b *Bucket) with(ctx context.Context, op, path string, f func(c *client) error) error {
	l, err := b.hold(ctx, op, path, f)
	if err != nil {
		return err
	}
	l.end(nil)
	return nil
}
