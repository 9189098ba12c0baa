package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/iterator"
)

// GCS takes one object in parts as objects of their own, which it puts together
// on the far side: 32 at a time, with a condition and a checksum. A resumable
// upload would be one stream. The parts lie below hiddenParts of the bucket,
// which no listing of a store shows:
//
//	.heirloom-parts/<token>/00000      a part
//	.heirloom-parts/<token>/1-00000    32 of them put together, where there are more
//	.heirloom-parts/<token>/begun      written first and removed last
const (
	hiddenParts   = ".heirloom-parts/"
	keyName       = "heirloom-key" // in the metadata of a part: the object it is for
	composeMost   = 32
	gcsUsualParts = composeMost
	gcsMaxParts   = composeMost * composeMost
	gcsAtOnce     = 16 // requests of one complete or abort
)

func (b *gcsBackend) partSize(size, want int64) int64 {
	return sizeOfParts(size, want, gcsUsualParts, gcsMaxParts)
}

func (b *gcsBackend) partsAtMost() int { return gcsMaxParts }

// begin takes the id for the token, so that to try again begins nothing else.
func (b *gcsBackend) begin(ctx context.Context, key, id string) (string, error) {
	if err := checkVisible(key); err != nil {
		return "", err
	}
	_, err := b.writeHidden(ctx, key, id+"/begun", func(w *storage.Writer) error { return nil })
	if errors.Is(kindOf(err), ErrPermission) {
		err = fmt.Errorf("a long object is sent through %s of the bucket: %w", hiddenParts, err)
	}
	return id, err
}

func (b *gcsBackend) part(ctx context.Context, key, token string, n int, body *io.SectionReader, crc uint32) (string, error) {
	if err := checkToken(token); err != nil {
		return "", err
	}
	obj, err := b.writeHidden(ctx, key, fmt.Sprintf("%s/%05d", token, n), func(w *storage.Writer) error {
		w.CRC32C, w.SendCRC32C = crc, true
		_, err := io.Copy(w, io.NewSectionReader(body, 0, body.Size()))
		return err
	})
	return obj.Version, err
}

func (b *gcsBackend) writeHidden(ctx context.Context, key, name string, fill func(w *storage.Writer) error) (Object, error) {
	o, err := b.object(ctx, hiddenParts+name)
	if err != nil {
		return Object{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := o.NewWriter(ctx)
	w.ChunkSize = 0 // one request, no buffer
	w.ContentType = contentType
	w.Metadata = map[string]string{keyName: key}
	if err := fill(w); err != nil {
		cancel() // before Close, or what was sent might count as the whole
		w.Close()
		return Object{}, err
	}
	return closed(w)
}

// checkVisible refuses a key that no listing would show.
func checkVisible(key string) error {
	if strings.HasPrefix(key, hiddenParts) {
		return invalid(fmt.Errorf("keys below %s are those of parts", hiddenParts))
	}
	return nil
}

func checkToken(token string) error {
	if _, err := hex.DecodeString(token); err != nil || len(token) != 32 || strings.ToLower(token) != token {
		return invalid(fmt.Errorf("%q is no token of an upload", token))
	}
	return nil
}

// complete asks, where it is refused, whose object is there: the answer to a
// try of this process or an earlier one may have been lost.
func (b *gcsBackend) complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error) {
	if err := checkToken(token); err != nil {
		return Object{}, err
	}
	crc, _ := crcOfParts(parts)
	attrs, err := b.compose(ctx, key, token, parts, cond)
	kind := kindOf(err)
	if errors.Is(kind, ErrConflict) || errors.Is(kind, ErrNotExist) {
		found, attrsErr := b.attrs(ctx, key)
		if attrsErr == nil && found.Metadata[writeIDName] == token {
			attrs, err = found, nil
		}
	}
	switch {
	case errors.Is(kind, ErrConflict) && err != nil && cond.absent:
		return Object{}, errors.Join(ErrExist, brief(err))
	case errors.Is(kind, ErrNotExist) && err != nil:
		return Object{}, uploadGone(err)
	case err != nil:
		return Object{}, err
	case attrs.CRC32C != crc:
		return Object{}, fmt.Errorf("%w: what is stored has another checksum than what was sent", ErrCorrupt)
	}
	// The object stands; parts that stay behind are unfinished's to tell.
	_ = b.abort(ctx, key, token)
	return gcsObject(attrs), nil
}

// compose puts parts together in groups until one group is left, which makes the
// object.
func (b *gcsBackend) compose(ctx context.Context, key, token string, parts []part, cond condition) (*storage.ObjectAttrs, error) {
	bucket, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	sources := make([]*storage.ObjectHandle, len(parts))
	for i, p := range parts {
		generation, err := generationOf(p.tag)
		if err != nil {
			return nil, err
		}
		sources[i] = bucket.Object(fmt.Sprintf("%s%s/%05d", hiddenParts, token, i)).Generation(generation)
	}
	for level := 1; len(sources) > composeMost; level++ {
		if sources, err = b.composeGroups(ctx, bucket, key, fmt.Sprintf("%s%s/%d-", hiddenParts, token, level), sources); err != nil {
			return nil, err
		}
	}
	target, err := conditioned(bucket.Object(key), cond)
	if err != nil {
		return nil, err
	}
	c := target.ComposerFrom(sources...)
	c.ContentType = contentType
	c.Metadata = map[string]string{writeIDName: token}
	c.CRC32C, _ = crcOfParts(parts)
	c.SendCRC32C = true
	return c.Run(ctx)
}

func (b *gcsBackend) composeGroups(ctx context.Context, bucket *storage.BucketHandle, key, name string, sources []*storage.ObjectHandle) ([]*storage.ObjectHandle, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(gcsAtOnce)
	composed := make([]*storage.ObjectHandle, (len(sources)+composeMost-1)/composeMost)
	for i := range composed {
		target := bucket.Object(fmt.Sprintf("%s%05d", name, i))
		few := sources[i*composeMost : min((i+1)*composeMost, len(sources))]
		group.Go(func() error {
			c := target.ComposerFrom(few...)
			c.ContentType = contentType
			c.Metadata = map[string]string{keyName: key}
			attrs, err := c.Run(ctx)
			if err == nil {
				composed[i] = target.Generation(attrs.Generation)
			}
			return err
		})
	}
	return composed, group.Wait()
}

// conditioned is the handle of an object for a write under a condition.
func conditioned(o *storage.ObjectHandle, cond condition) (*storage.ObjectHandle, error) {
	if cond.absent {
		return o.If(storage.Conditions{DoesNotExist: true}), nil
	}
	if cond.version == "" {
		return o, nil
	}
	generation, err := generationOf(cond.version)
	return o.If(storage.Conditions{GenerationMatch: generation}), err
}

// abort takes several requests.
func (b *gcsBackend) abort(ctx context.Context, _, token string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	bucket, err := b.connect(ctx)
	if err != nil {
		return err
	}
	hidden, err := b.hidden(ctx, token+"/")
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(gcsAtOnce)
	begun := hiddenParts + token + "/begun"
	for _, o := range hidden {
		if o.Name != begun {
			group.Go(func() error { return deleted(groupCtx, bucket.Object(o.Name)) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return deleted(ctx, bucket.Object(begun))
}

func deleted(ctx context.Context, o *storage.ObjectHandle) error {
	if err := o.Delete(ctx); !errors.Is(kindOf(err), ErrNotExist) {
		return err
	}
	return nil
}

// hidden lists what lies below prefix of hiddenParts.
func (b *gcsBackend) hidden(ctx context.Context, prefix string) ([]*storage.ObjectAttrs, error) {
	bucket, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	query := &storage.Query{Prefix: hiddenParts + prefix}
	if err := query.SetAttrSelection([]string{"Name", "Created", "Metadata"}); err != nil {
		return nil, err
	}
	var list []*storage.ObjectAttrs
	for token := ""; ; {
		token, err = iterator.NewPager(bucket.Objects(ctx, query), pageSize, token).NextPage(&list)
		if err != nil {
			return nil, missingBucket(err)
		}
		if token == "" {
			return list, nil
		}
	}
}

// unfinished goes by the parts too, for one that was on its way during an abort
// has lost what was written first.
func (b *gcsBackend) unfinished(ctx context.Context, prefix string) iter.Seq2[upload, error] {
	return func(yield func(upload, error) bool) {
		hidden, err := b.hidden(ctx, "")
		if err != nil {
			yield(upload{}, err)
			return
		}
		for _, u := range begunUploads(hidden, prefix) {
			if !yield(u, nil) {
				return
			}
		}
	}
}

func begunUploads(hidden []*storage.ObjectAttrs, prefix string) []upload {
	begun := map[string]upload{}
	for _, o := range hidden {
		token, _, _ := strings.Cut(strings.TrimPrefix(o.Name, hiddenParts), "/")
		key := o.Metadata[keyName]
		if checkToken(token) != nil || !strings.HasPrefix(key, prefix) {
			continue
		}
		if u, known := begun[token]; !known || o.Created.Before(u.begun) {
			begun[token] = upload{key, token, o.Created}
		}
	}
	list := make([]upload, 0, len(begun))
	for _, u := range begun {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b upload) int {
		return cmp.Or(cmp.Compare(a.key, b.key), a.begun.Compare(b.begun), cmp.Compare(a.token, b.token))
	})
	return list
}

// checksum is known of every object in GCS.
func (b *gcsBackend) checksum(ctx context.Context, key, version string) (uint32, bool, error) {
	attrs, err := b.attrs(ctx, key)
	if err != nil {
		return 0, false, err
	}
	if version != "" && version != strconv.FormatInt(attrs.Generation, 10) {
		return 0, false, ErrConflict
	}
	return attrs.CRC32C, true, nil
}
