package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	chunkSize    = 64 << 10         // bytes handed to the library at once: a packet, so that it keeps none of them
	cleanTimeout = 15 * time.Second // for taking back what a failed write left
	firstPause   = 20 * time.Millisecond
	longestPause = 2 * time.Second
)

// Writer writes one object. Nothing is visible before Commit. Not safe for concurrent use.
type Writer struct {
	lease *lease
	path  string
	temp  string
	file  *hdfs.FileWriter
	size  int64
	attrs map[string]string // extended attributes
	err   error             // the first failure; what follows it has no effect
	done  bool
}

// Put replaces the object at key.
func (b *Bucket) Put(ctx context.Context, key string, body []byte) (dirtree.Object, error) {
	return b.writeAll(ctx, key, body, dirtree.Replace, "")
}

// Create makes the object at key, or fails with fs.ErrExist. Where it fails with ErrUnavailable it may have been
// applied; WriteID of the key tells then.
func (b *Bucket) Create(ctx context.Context, key string, body []byte, id string) (dirtree.Object, error) {
	return b.writeAll(ctx, key, body, dirtree.Create, id)
}

func (b *Bucket) writeAll(ctx context.Context, key string, body []byte, mode dirtree.Mode, id string) (dirtree.Object, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return dirtree.Object{}, err
	}
	if _, err := w.Write(body); err != nil {
		return dirtree.Object{}, errors.Join(err, w.Abort())
	}
	o, err := w.commit(mode, id)
	o.Key = key
	return o, err
}

// NewWriter begins an object. The caller ends it with Commit or Abort.
func (b *Bucket) NewWriter(ctx context.Context, key string) (*Writer, error) {
	if key == "" {
		return nil, dirtree.NoKey(b.root)
	}
	b.sweepOnce(ctx)
	return b.newWriter(ctx, b.Path(key), b.root)
}

// newWriter begins what is to be at path with a temporary file in dir.
func (b *Bucket) newWriter(ctx context.Context, path, dir string) (*Writer, error) {
	d, err := b.newFile(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path}
	w.lease, err = b.hold(ctx, "write", path, func(c *client) error { return w.open(c, dir, d) })
	if err != nil {
		return nil, err
	}
	return w, nil
}

// open makes the temporary file, under a name that no earlier try has used, and the bucket's directory if there is
// none.
func (w *Writer) open(c *client, dir string, d defaults) (err error) {
	w.temp = path.Join(dir, keyname.NewTemp())
	c.guard.sync = c.bucket.syncs()
	w.file, err = c.CreateFile(w.temp, d.replication, d.blockSize, c.bucket.filePerm)
	if isAbsent(err) && dir == c.bucket.root {
		if err := c.makeDir(c.bucket.root); err != nil {
			return err
		}
		w.file, err = c.CreateFile(w.temp, d.replication, d.blockSize, c.bucket.filePerm)
	}
	return c.denied(err, dir, toWrite)
}

// Write adds to the object.
func (w *Writer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) && w.err == nil {
		var n int
		err := w.lease.do(func(*client) (err error) {
			n, err = w.file.Write(p[done:min(done+chunkSize, len(p))])
			return err
		})
		done += n
		w.err = w.explain(err)
	}
	w.size += int64(done)
	return done, w.err
}

// explain says of a failed write whether the cluster is full: the NameNode has the same exception for that as for
// DataNodes that are gone.
func (w *Writer) explain(err error) error {
	if err == nil {
		return nil
	}
	remote, ok := errors.AsType[exception](err)
	if ok && remote.Method() == "addBlock" && className(remote.Exception()) == "IOException" {
		stat, statErr := w.lease.client.StatFs()
		if statErr == nil && stat.Capacity > 0 && stat.Remaining < uint64(w.lease.bucket.blockSize()) {
			err = fmt.Errorf("%w: %w", dirtree.ErrNoSpace, err)
		}
	}
	return wrap("write", w.path, err)
}

// Abort drops what was written. After Commit or Abort it does nothing.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.drop()
	w.lease.bucket.removeTemp(w.lease.ctx, w.temp)
	return nil
}

// drop ends the client, and with it what the library still has in flight and the lease on the temporary file.
func (w *Writer) drop() {
	w.lease.client.guard.close(errClosed)
	_ = w.file.Close() // fails at once; it ends the library's heartbeats
	w.lease.end(errClosed)
}

// Commit publishes the object.
func (w *Writer) Commit(mode dirtree.Mode) (dirtree.Object, error) { return w.commit(mode, "") }

func (w *Writer) commit(mode dirtree.Mode, id string) (dirtree.Object, error) {
	if w.done {
		return dirtree.Object{}, wrap("write", w.path, fs.ErrClosed)
	}
	b, ctx := w.lease.bucket, w.lease.ctx
	made, err := w.finish()
	if err != nil {
		return dirtree.Object{}, errors.Join(err, w.Abort())
	}
	w.done = true
	w.lease.end(nil)
	if err := b.publish(ctx, made, w.temp, w.path, mode, id); err != nil {
		b.removeTemp(ctx, w.temp)
		return dirtree.Object{}, err
	}
	return made.Object, nil
}

// finish closes the temporary file, whose blocks are then on all DataNodes of the pipeline, and checks that the
// NameNode counts the bytes that were written.
func (w *Writer) finish() (made inode, err error) {
	if w.err == nil {
		w.err = w.lease.ctx.Err()
	}
	if w.err != nil {
		return inode{}, w.err
	}
	err = w.lease.do(func(c *client) error {
		if err := w.close(c); err != nil {
			return err
		}
		for name, value := range w.attrs {
			if err := c.SetXAttr(w.temp, name, value); err != nil {
				return err
			}
		}
		if made, err = c.statFile(w.temp); err != nil {
			return err
		}
		if made.Size != w.size {
			return fmt.Errorf("%w: the NameNode counts %d bytes of %d", dirtree.ErrCorrupt, made.Size, w.size)
		}
		return nil
	})
	return made, wrap("write", w.path, err)
}

// close waits until the NameNode has heard of enough replicas.
func (w *Writer) close(c *client) error {
	err := w.file.Close()
	deadline := time.Now().Add(w.lease.bucket.timeout)
	for pause := firstPause; hdfs.IsErrReplicating(err); pause = min(2*pause, longestPause) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %w", dirtree.ErrUnavailable, err)
		}
		if err := wait(w.lease.ctx, pause); err != nil {
			return err
		}
		done, completeErr := c.complete(w.temp, w.size)
		if done || completeErr != nil {
			return completeErr
		}
	}
	return err
}

func wait(ctx context.Context, pause time.Duration) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
