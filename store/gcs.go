package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
)

// gcsBackend talks to Google Cloud Storage through the SDK itself: gocloud's
// driver takes refused access for absence, and 16 MiB for each small write.
type gcsBackend struct {
	bucket    string
	address   string // of a server of one's own, "" for Google's
	anonymous bool
	opts      GCSOptions
	stall     time.Duration

	mu     sync.Mutex             // guards client
	client *storage.Client        // nil until first used
	host   atomic.Pointer[string] // last spoken to, nil before
}

func (b *gcsBackend) capabilities() Capabilities {
	return Capabilities{AtomicCreate: true, AtomicPut: true, Replace: true, Durable: true, ServerChecksum: true}
}

func (b *gcsBackend) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client == nil {
		return nil
	}
	return b.client.Close()
}

func (b *gcsBackend) object(ctx context.Context, key string) (*storage.ObjectHandle, error) {
	bucket, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	return bucket.Object(key), nil
}

func (b *gcsBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	o, err := b.object(ctx, key)
	if err != nil {
		return nil, Object{}, err
	}
	if version != "" {
		generation, err := generationOf(version)
		if err != nil {
			return nil, Object{}, err
		}
		o = o.If(storage.Conditions{GenerationMatch: generation})
	}
	r, err := o.ReadCompressed(true).NewRangeReader(ctx, offset, length)
	if err != nil {
		return nil, Object{}, err
	}
	obj := Object{Key: Key(key), Size: r.Attrs.Size, Modified: r.Attrs.LastModified, Version: strconv.FormatInt(r.Attrs.Generation, 10)}
	if version != "" && obj.Version != version { // an emulator may ignore the condition
		r.Close()
		return nil, Object{}, ErrConflict
	}
	return checkedBody{r}, obj, nil
}

func (b *gcsBackend) stat(ctx context.Context, key string) (Object, error) {
	attrs, err := b.attrs(ctx, key)
	if err != nil {
		return Object{}, err
	}
	return gcsObject(attrs), nil
}

func (b *gcsBackend) attrs(ctx context.Context, key string) (*storage.ObjectAttrs, error) {
	o, err := b.object(ctx, key)
	if err != nil {
		return nil, err
	}
	return o.Attrs(ctx)
}

func (b *gcsBackend) writeID(ctx context.Context, key string) (string, error) {
	attrs, err := b.attrs(ctx, key)
	if err != nil {
		return "", err
	}
	return attrs.Metadata[writeIDName], nil
}

func (b *gcsBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if err := checkVisible(key); err != nil {
		return Object{}, err
	}
	o, err := b.object(ctx, key)
	if err != nil {
		return Object{}, err
	}
	if o, err = conditioned(o, cond); err != nil {
		return Object{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := o.NewWriter(ctx)
	w.ChunkSize = 0 // one request, no buffer
	w.ContentType = contentType
	w.CRC32C, w.SendCRC32C = crc32c(body), true
	if cond.id != "" {
		w.Metadata = map[string]string{writeIDName: cond.id}
	}
	if _, err := w.Write(body); err != nil {
		cancel() // before Close, or what was sent might count as the whole
		w.Close()
		return Object{}, err
	}
	return closed(w)
}

func (b *gcsBackend) remove(ctx context.Context, key string) error {
	o, err := b.object(ctx, key)
	if err != nil {
		return err
	}
	return o.Delete(ctx)
}

func (b *gcsBackend) pages(prefix, delimiter, after string) pager {
	return &gcsPager{back: b, query: storage.Query{Prefix: prefix, Delimiter: delimiter, StartOffset: after}}
}

type gcsPager struct {
	back  *gcsBackend
	query storage.Query
	token string
}

func (p *gcsPager) next(ctx context.Context) ([]Entry, bool, error) {
	bucket, err := p.back.connect(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := p.query.SetAttrSelection([]string{"Name", "Size", "Updated", "Generation"}); err != nil {
		return nil, false, err
	}
	var list []*storage.ObjectAttrs
	token, err := iterator.NewPager(bucket.Objects(ctx, &p.query), pageSize, p.token).NextPage(&list)
	if err != nil {
		return nil, false, missingBucket(err)
	}
	page := make([]Entry, 0, len(list))
	for _, attrs := range list {
		switch {
		case strings.HasPrefix(attrs.Prefix+attrs.Name, hiddenParts): // of objects that are not complete
		case p.query.StartOffset != "" && attrs.Prefix+attrs.Name <= p.query.StartOffset: // which Google counts in
		case attrs.Prefix != "":
			page = append(page, Entry{Object: Object{Key: Key(attrs.Prefix)}, IsDir: true})
		default:
			page = append(page, Entry{Object: gcsObject(attrs)})
		}
	}
	slices.SortFunc(page, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	p.token = token
	return page, token != "", nil
}

func (p *gcsPager) stop() {}

// closed ends a write.
func closed(w *storage.Writer) (Object, error) {
	if err := w.Close(); err != nil {
		return Object{}, missingBucket(err)
	}
	stored := w.Attrs()
	if w.SendCRC32C && stored.CRC32C != w.CRC32C {
		return Object{}, fmt.Errorf("%w: what is stored has another checksum than what was sent", ErrCorrupt)
	}
	return gcsObject(stored), nil
}

// missingBucket makes clear what it is that does not exist where no object was
// asked for.
func missingBucket(err error) error {
	if errors.Is(kindOf(err), ErrNotExist) {
		return errors.Join(storage.ErrBucketNotExist, err)
	}
	return err
}

func gcsObject(a *storage.ObjectAttrs) Object {
	return Object{Key: Key(a.Name), Size: a.Size, Modified: a.Updated, Version: strconv.FormatInt(a.Generation, 10)}
}

func generationOf(version string) (int64, error) {
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is no version of an object in GCS", ErrConflict, version)
	}
	return generation, nil
}
