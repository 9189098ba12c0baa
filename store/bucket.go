package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"gocloud.dev/blob"
)

const (
	pageSize    = 1000                // entries of one request
	writeIDName = "heirloom-write-id" // in the metadata of an object
	contentType = "application/octet-stream"
)

// FromBucket makes a store of any bucket of gocloud, with the capabilities that
// all of them share. address is what URL and KeyURL build on. The store closes
// the bucket. opts may be nil.
func FromBucket(b *blob.Bucket, address string, opts *Options) *Store {
	if opts == nil {
		opts = &Options{}
	}
	p := place{scheme: "bucket", root: address}
	if name, rest, ok := strings.Cut(address, "://"); ok {
		p.scheme = name
		p.root, p.query, _ = strings.Cut(rest, "?")
		if p.query != "" {
			p.query = "?" + p.query
		}
	}
	return newStore(p, "", &bucketBackend{bucket: b}, *opts)
}

// bucketBackend is the floor: what every driver of gocloud can do.
type bucketBackend struct {
	bucket *blob.Bucket
}

func (b *bucketBackend) capabilities() Capabilities {
	return Capabilities{AtomicCreate: true, AtomicPut: true}
}

func (b *bucketBackend) close() error { return b.bucket.Close() }

func (b *bucketBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	r, err := b.bucket.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, Object{}, err
	}
	obj := Object{Key: Key(key), Size: r.Size(), Modified: r.ModTime()}
	obj.Version = timeVersion(obj)
	if version != "" && version != obj.Version {
		return nil, Object{}, errors.Join(ErrConflict, r.Close())
	}
	return r, obj, nil
}

func (b *bucketBackend) stat(ctx context.Context, key string) (Object, error) {
	attrs, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return Object{}, err
	}
	obj := Object{Key: Key(key), Size: attrs.Size, Modified: attrs.ModTime}
	obj.Version = timeVersion(obj)
	return obj, nil
}

func (b *bucketBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	opts := &blob.WriterOptions{ContentType: contentType, IfNotExist: cond.absent}
	if cond.id != "" {
		opts.Metadata = map[string]string{writeIDName: cond.id}
	}
	return Object{Key: Key(key), Size: int64(len(body))}, b.bucket.WriteAll(ctx, key, body, opts)
}

// stream cancels the writer before closing it where r fails, which is how
// gocloud drops what was written.
func (b *bucketBackend) stream(ctx context.Context, key string, r io.Reader, absent bool, send sendFunc) (Object, error) {
	obj := Object{Key: Key(key)}
	err := send(ctx, 0, false, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w, err := b.bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, IfNotExist: absent})
		if err != nil {
			return err
		}
		obj.Size, err = io.Copy(w, r)
		if err != nil {
			cancel()
			w.Close() // fails, being cancelled
			return err
		}
		return w.Close()
	})
	return obj, err
}

func (b *bucketBackend) remove(ctx context.Context, key string) error {
	return b.bucket.Delete(ctx, key)
}

func (b *bucketBackend) writeID(ctx context.Context, key string) (string, error) {
	attrs, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return "", err
	}
	return attrs.Metadata[writeIDName], nil
}

// pages lists from the beginning: gocloud has no way to begin further on.
func (b *bucketBackend) pages(prefix, delimiter, after string) pager {
	return &bucketPager{bucket: b.bucket, after: after, opts: blob.ListOptions{Prefix: prefix, Delimiter: delimiter}, token: blob.FirstPageToken}
}

func (b *bucketBackend) listsFromStart() {}

type bucketPager struct {
	bucket *blob.Bucket
	opts   blob.ListOptions
	after  string
	token  []byte
}

func (p *bucketPager) next(ctx context.Context) ([]Entry, bool, error) {
	list, token, err := p.bucket.ListPage(ctx, p.token, pageSize, &p.opts)
	if err != nil {
		return nil, false, err
	}
	entries := make([]Entry, 0, len(list))
	for _, o := range list {
		if o.Key <= p.after {
			continue
		}
		e := Entry{Object: Object{Key: Key(o.Key)}, IsDir: o.IsDir}
		if !o.IsDir {
			e.Size, e.Modified = o.Size, o.ModTime
			e.Version = timeVersion(e.Object)
		}
		entries = append(entries, e)
	}
	p.token = token
	return entries, len(token) > 0, nil
}

func (p *bucketPager) stop() {}

// timeVersion tells versions apart as far as time and size can.
func timeVersion(o Object) string {
	return fmt.Sprintf("%x-%x", o.Modified.UnixNano(), o.Size)
}

// queryString writes values in the order of their names.
func queryString(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
