package hdfsblob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// maxIdle bounds the clients that are kept open while nobody uses them; each renews its leases every second.
const maxIdle = 8

// errClosed ends the connections of a client that was given back for good.
var errClosed = fmt.Errorf("the connection to HDFS: %w", fs.ErrClosed)

// client is one connection to the NameNode, with those to DataNodes that come with it. The library takes one
// request at a time over it and keeps unguarded state in it, so it belongs to one user at a time.
type client struct {
	*hdfs.Client
	bucket *Bucket
	caller caller
	guard  *guard
	used   bool // has served a request before
}

// take gives an idle client or a new one. The caller gives it back.
func (b *Bucket) take(ctx context.Context) (*client, error) {
	for {
		c, err := b.idleClient()
		if err != nil {
			return nil, err
		}
		if c == nil {
			return b.newClient(ctx)
		}
		if _, fault, _ := c.guard.state(); fault == nil {
			return c, nil
		}
		c.discard()
	}
}

func (b *Bucket) idleClient() (*client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if len(b.idle) == 0 {
		return nil, nil
	}
	c := b.idle[len(b.idle)-1]
	b.idle = b.idle[:len(b.idle)-1]
	return c, nil
}

// give takes a client back. One whose last request failed without an answer of a server is not used again.
func (b *Bucket) give(c *client, err error) {
	last, fault, _ := c.guard.state()
	c.guard.closeData()
	if c.guard.end() != nil || fault != nil || !answered(err) {
		c.discard()
		return
	}
	c.used = true
	b.mu.Lock()
	b.active = last
	keep := !b.closed && len(b.idle) < maxIdle
	if keep {
		b.idle = append(b.idle, c)
	}
	b.mu.Unlock()
	if !keep {
		c.discard()
	}
}

// answered reports whether err leaves the connection in a known state.
func answered(err error) bool {
	if err == nil {
		return true
	}
	if _, ok := errors.AsType[exception](err); ok {
		return true
	}
	return !errors.Is(kindOf(err), dirtree.ErrUnavailable) && kindOf(err) != nil
}

func (c *client) discard() {
	c.guard.close(errClosed)
	_ = c.Close() // fails, its connection being closed
}

// newClient connects to the NameNode that answered last, else to the others.
func (b *Bucket) newClient(ctx context.Context) (*client, error) {
	g := &guard{timeout: b.timeout, conns: map[*conn]bool{}}
	stop := context.AfterFunc(ctx, func() { g.close(ctx.Err()) })
	defer stop()
	options, err := b.clientOptions(ctx)
	if err != nil {
		return nil, err
	}
	options.NamenodeDialFunc, options.DatanodeDialFunc = g.dialName, g.dialData
	library, err := hdfs.NewClient(options)
	if err != nil {
		g.close(errClosed)
		return nil, cmp.Or(b.lapsed(ctx, options), because(ctx, g, err))
	}
	c := &client{Client: library, bucket: b, guard: g}
	if c.caller, err = callerOf(library); err != nil {
		c.discard()
		return nil, err
	}
	return c, nil
}

// addresses are the NameNodes, the one that answered last in front.
func (b *Bucket) addresses() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.nameNodes)
	if i := slices.Index(list, b.active); i > 0 {
		list = append([]string{b.active}, slices.Delete(list, i, i+1)...)
	}
	return list
}

// because adds what the library leaves out of its errors: that the context ended, or why a connection failed.
func because(ctx context.Context, g *guard, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[exception](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if web := g.webServer(); web != nil {
		return web
	}
	if _, _, dials := g.state(); dials != nil && errors.Is(kindOf(err), dirtree.ErrUnavailable) {
		return kinded{dirtree.ErrUnavailable, dials}
	}
	return err
}
