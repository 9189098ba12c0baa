package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// slack is how far the time of an answer and that of an upload may be apart: both
// are told in seconds, and a server may look at its clock but now and then.
const slack = 5 * time.Second

var _ forgetful = (*s3Backend)(nil)

// nameless leaves alone what was begun with other checksums than ours, where the
// server tells them: other tools have other habits.
func (b *s3Backend) nameless(ctx context.Context, key, token string, oldest, newest time.Duration) ([]upload, error) {
	own, _ := parseS3Token(token) // none where begin failed
	out, err := b.listUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &b.bucket, Prefix: &key})
	if err != nil {
		return nil, err
	}
	now, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
	if !ok {
		return nil, nil
	}
	from, to := now.Add(-oldest-slack), now.Add(-newest+slack)
	var list []upload
	for _, u := range out.Uploads {
		id, begun := aws.ToString(u.UploadId), aws.ToTime(u.Initiated)
		if aws.ToString(u.Key) != key || id == own.upload || begun.Before(from) || begun.After(to) || !b.mayBegin(u.ChecksumAlgorithm) {
			continue
		}
		unused, err := b.isUnused(ctx, key, id)
		if err != nil && errorCode(err) != "NoSuchUpload" { // it has just ended
			return nil, err
		}
		if unused {
			list = append(list, upload{key, s3Token{upload: id}.String(), begun})
		}
	}
	return list, nil
}

// mayBegin reports whether this backend begins uploads with such checksums; ""
// is not told.
func (b *s3Backend) mayBegin(sums types.ChecksumAlgorithm) bool {
	return sums == "" || b.opts.sums() && sums == types.ChecksumAlgorithmCrc32c
}

// isUnused asks for parts of an upload, and for its checksums again, which not
// every server tells in its list of uploads.
func (b *s3Backend) isUnused(ctx context.Context, key, id string) (bool, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return false, err
	}
	out, err := c.ListParts(ctx, &s3.ListPartsInput{Bucket: &b.bucket, Key: &key, UploadId: &id, MaxParts: aws.Int32(1)})
	return err == nil && len(out.Parts) == 0 && b.mayBegin(out.ChecksumAlgorithm), err
}
