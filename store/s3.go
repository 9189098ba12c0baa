package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// s3Backend talks to S3 through the SDK itself rather than gocloud's driver,
// which keeps 8 MiB for each small write, hides the codes of errors, and makes
// requests of its own.
type s3Backend struct {
	bucket string
	opts   s3Options
	stall  time.Duration

	mu      sync.Mutex // guards all below
	client  *s3.Client // nil until first used
	renewed time.Time  // when the credentials were last exchanged
}

func (b *s3Backend) capabilities() Capabilities {
	return Capabilities{AtomicCreate: !b.opts.unconditional, AtomicPut: true, Replace: !b.opts.unconditional, Durable: true, ServerChecksum: b.opts.sums()}
}

func (b *s3Backend) close() error { return nil }

func (b *s3Backend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return nil, Object{}, err
	}
	in := &s3.GetObjectInput{Bucket: &b.bucket, Key: &key, Range: byteRange(offset, length)}
	if version != "" {
		in.IfMatch = aws.String(quote(version))
	}
	out, err := c.GetObject(ctx, in)
	if err != nil {
		return nil, Object{}, err
	}
	obj := Object{Key: Key(key), Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: unquote(out.ETag)}
	if in.Range != nil {
		if obj.Size, err = rangeTotal(aws.ToString(out.ContentRange)); err != nil {
			out.Body.Close()
			return nil, Object{}, err
		}
	}
	return checkedBody{out.Body}, obj, nil
}

func (b *s3Backend) stat(ctx context.Context, key string) (Object, error) {
	out, err := b.head(ctx, key)
	if err != nil {
		return Object{}, err
	}
	return headObject(key, out), nil
}

func headObject(key string, out *s3.HeadObjectOutput) Object {
	return Object{Key: Key(key), Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: unquote(out.ETag)}
}

func (b *s3Backend) head(ctx context.Context, key string) (*s3.HeadObjectOutput, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	out, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.bucket, Key: &key})
	return out, b.spoken(ctx, key, err)
}

// spoken asks again by GET, where HEAD was refused with 400: that may be expired
// credentials, and HEAD has no body to say so.
func (b *s3Backend) spoken(ctx context.Context, key string, err error) error {
	if status, _ := response(err); status != http.StatusBadRequest {
		return err
	}
	r, _, getErr := b.read(ctx, key, 0, 1, "")
	if getErr != nil {
		return getErr
	}
	return errors.Join(err, r.Close())
}

func (b *s3Backend) writeID(ctx context.Context, key string) (string, error) {
	out, err := b.head(ctx, key)
	if err != nil {
		return "", err
	}
	return out.Metadata[writeIDName], nil
}

func (b *s3Backend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if err := b.opts.allows(cond); err != nil {
		return Object{}, err
	}
	c, err := b.connect(ctx)
	if err != nil {
		return Object{}, err
	}
	in := &s3.PutObjectInput{
		Bucket: &b.bucket, Key: &key, Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
		ContentType:          aws.String(contentType),
		ServerSideEncryption: types.ServerSideEncryption(b.opts.encryption),
	}
	if b.opts.kmsKey != "" {
		in.SSEKMSKeyId = &b.opts.kmsKey
	}
	if b.opts.sums() {
		in.ChecksumCRC32C = sumText(crc32c(body))
	}
	in.IfNoneMatch, in.IfMatch = conditionHeaders(cond)
	if cond.id != "" {
		in.Metadata = map[string]string{writeIDName: cond.id}
	}
	out, err := c.PutObject(ctx, in)
	if err != nil {
		return Object{}, err
	}
	return Object{Key: Key(key), Size: int64(len(body)), Version: unquote(out.ETag)}, nil
}

func (b *s3Backend) remove(ctx context.Context, key string) error {
	c, err := b.connect(ctx)
	if err != nil {
		return err
	}
	_, err = c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &key})
	return err
}

// removesBlindly: S3 reports success for what was not there.
func (b *s3Backend) removesBlindly() {}

func (b *s3Backend) pages(prefix, delimiter, after string) pager {
	return &s3Pager{back: b, in: s3.ListObjectsV2Input{
		Bucket: &b.bucket, Prefix: &prefix, Delimiter: optional(delimiter), StartAfter: optional(after), MaxKeys: aws.Int32(pageSize),
	}}
}

type s3Pager struct {
	back *s3Backend
	in   s3.ListObjectsV2Input // of the next page
}

func (p *s3Pager) next(ctx context.Context) ([]Entry, bool, error) {
	c, err := p.back.connect(ctx)
	if err != nil {
		return nil, false, err
	}
	out, err := c.ListObjectsV2(ctx, &p.in)
	if err != nil {
		return nil, false, err
	}
	page := make([]Entry, 0, len(out.Contents)+len(out.CommonPrefixes))
	for _, o := range out.Contents {
		page = append(page, Entry{Object: Object{
			Key: Key(aws.ToString(o.Key)), Size: aws.ToInt64(o.Size),
			Modified: aws.ToTime(o.LastModified), Version: unquote(o.ETag),
		}})
	}
	for _, d := range out.CommonPrefixes {
		page = append(page, Entry{Object: Object{Key: Key(aws.ToString(d.Prefix))}, IsDir: true})
	}
	slices.SortFunc(page, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	more := aws.ToBool(out.IsTruncated)
	if more && aws.ToString(out.NextContinuationToken) == "" {
		return nil, false, fmt.Errorf("%w: the server cut the listing of %q and does not say how to go on", ErrCorrupt, aws.ToString(p.in.Prefix))
	}
	p.in.ContinuationToken = out.NextContinuationToken
	return page, more, nil
}

func (p *s3Pager) stop() {}

// byteRange is the header for a range, nil for the whole.
func byteRange(offset, length int64) *string {
	switch {
	case length >= 0:
		return aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		return aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	return nil
}

// rangeTotal is the size of the whole object, from "bytes 0-9/100".
func rangeTotal(header string) (int64, error) {
	var from, to, total int64
	if _, err := fmt.Sscanf(header, "bytes %d-%d/%d", &from, &to, &total); err != nil {
		return 0, fmt.Errorf("%w: the server answers a range with Content-Range %q", ErrCorrupt, header)
	}
	return total, nil
}

// An ETag travels in quotes; a Version is without.
func quote(version string) string { return `"` + version + `"` }

func unquote(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
