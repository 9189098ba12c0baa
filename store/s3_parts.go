package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

const (
	partSize    = 8 << 20 // of the first parts; later ones grow
	partsAtOnce = 4
	maxParts    = 10_000
)

// stream sends r in parts, several at once. A source of one part goes as a plain
// write.
func (b *s3Backend) stream(ctx context.Context, key string, r io.Reader, send sendFunc) (Object, error) {
	first, last, err := readPart(nil, r, partSize)
	if err != nil {
		return Object{}, err
	}
	if last {
		var obj Object
		err := send(ctx, int64(len(first)), true, func(ctx context.Context) (err error) {
			obj, err = b.write(ctx, key, first, condition{})
			return err
		})
		return obj, err
	}
	u := &s3Upload{back: b, key: key, send: send}
	if err := u.begin(ctx); err != nil {
		return Object{}, err
	}
	if err := u.sendParts(ctx, first, r); err != nil {
		return Object{}, errors.Join(err, u.abort(ctx))
	}
	obj, err := u.complete(ctx)
	if err != nil {
		return Object{}, errors.Join(err, u.abort(ctx))
	}
	return obj, nil
}

// s3Upload is one multipart upload.
type s3Upload struct {
	back *s3Backend
	key  string
	send sendFunc
	id   *string

	mu    sync.Mutex // guards parts and size
	parts []types.CompletedPart
	size  int64
}

// request makes one call of the SDK as a counted request.
func (u *s3Upload) request(ctx context.Context, bytes int64, do func(context.Context, *s3.Client) error) error {
	return u.send(ctx, bytes, true, func(ctx context.Context) error {
		c, err := u.back.connect(ctx)
		if err != nil {
			return err
		}
		return do(ctx, c)
	})
}

func (u *s3Upload) begin(ctx context.Context) error {
	return u.request(ctx, 0, func(ctx context.Context, c *s3.Client) error {
		out, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
			Bucket: &u.back.bucket, Key: &u.key, ContentType: aws.String(contentType),
			ServerSideEncryption: types.ServerSideEncryption(u.back.opts.encryption),
			SSEKMSKeyId:          optional(u.back.opts.kmsKey),
			ChecksumAlgorithm:    partChecksum(c),
		})
		if err == nil {
			u.id = out.UploadId
		}
		return err
	})
}

// sendParts reads one part after the other while others are on their way.
func (u *s3Upload) sendParts(ctx context.Context, part []byte, r io.Reader) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	var readErr error
	last := false
	for n := int32(1); len(part) > 0 && groupCtx.Err() == nil; n++ {
		if n > maxParts {
			readErr = invalid(errors.New("the source is too long for S3"))
			break
		}
		body := part
		group.Go(func() error { return u.sendPart(groupCtx, n, body) })
		if last {
			break
		}
		if part, last, readErr = readPart(nil, r, sizeOfPart(n+1)); readErr != nil {
			break
		}
	}
	return errors.Join(readErr, group.Wait())
}

// sizeOfPart doubles after each 1,000 parts, so that 10,000 reach S3's longest
// object of 5 TiB while short ones need little memory.
func sizeOfPart(n int32) int {
	return partSize << min(max(n-1, 0)/1000, 7)
}

func (u *s3Upload) sendPart(ctx context.Context, n int32, body []byte) error {
	return u.request(ctx, int64(len(body)), func(ctx context.Context, c *s3.Client) error {
		out, err := c.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &u.back.bucket, Key: &u.key, UploadId: u.id, PartNumber: &n,
			Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
			ChecksumAlgorithm: partChecksum(c),
		})
		if err != nil {
			return err
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.size += int64(len(body))
		u.parts = append(u.parts, types.CompletedPart{
			PartNumber: &n, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32,
		})
		return nil
	})
}

func (u *s3Upload) complete(ctx context.Context) (Object, error) {
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return cmp.Compare(*a.PartNumber, *b.PartNumber) })
	obj := Object{Key: Key(u.key), Size: u.size}
	err := u.request(ctx, 0, func(ctx context.Context, c *s3.Client) error {
		out, err := c.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &u.back.bucket, Key: &u.key, UploadId: u.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		})
		if err == nil {
			obj.Version = unquote(out.ETag)
		}
		return err
	})
	return obj, err
}

// abort frees the parts that were sent, also when ctx has ended.
func (u *s3Upload) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	err := u.request(ctx, 0, func(ctx context.Context, c *s3.Client) error {
		_, err := c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.back.bucket, Key: &u.key, UploadId: u.id})
		return err
	})
	if isNotExist(err) {
		return nil // it never began, or is complete
	}
	return err
}

// partChecksum is the same for an upload and all of its parts, which some servers
// insist on, and none where the user asked for none.
func partChecksum(c *s3.Client) types.ChecksumAlgorithm {
	if c.Options().RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired {
		return ""
	}
	return types.ChecksumAlgorithmCrc32
}
