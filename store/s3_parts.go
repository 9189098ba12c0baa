package store

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	s3MinPart     = 5 << 20  // but for the last
	minPartSize   = 8 << 20  // of our own choice
	usualPartSize = 64 << 20 // not more, while the count of parts allows it
	s3MaxParts    = 10_000
	s3UsualParts  = 64
	openPartSize  = 6 << 20 // of the first ones where the size of the whole is not known
)

// partSize keeps a long object below the 10,000 parts that S3 takes, with some
// to spare.
func (b *s3Backend) partSize(size, want int64) int64 {
	return max(s3MinPart, sizeOfParts(size, want, s3UsualParts, s3MaxParts*9/10))
}

func (b *s3Backend) partsAtMost() int { return s3MaxParts }

// sizeOfParts cuts size into parts of the wanted size, else into about the usual
// number of them, but never into more than most.
func sizeOfParts(size, want, usual, most int64) int64 {
	const round = 1 << 20
	part := want
	switch {
	case want > 0:
	case size < 0:
		part = openPartSize
	default:
		part = (max(min(size/usual, usualPartSize), minPartSize) + round - 1) / round * round
	}
	if part*most < size {
		part = (size/most + round) / round * round
	}
	return part
}

// s3Token is what identifies a begun upload.
type s3Token struct {
	sums   sumMode
	upload string
}

// sumMode says which checksums an upload was begun with.
type sumMode string

const (
	sumsNone  sumMode = "none"  // as the user asked
	sumsParts sumMode = "parts" // of each part
	sumsWhole sumMode = "whole" // of each part and of the whole
)

func (t s3Token) String() string { return string(t.sums) + " " + t.upload }

func parseS3Token(text string) (s3Token, error) {
	sums, id, _ := strings.Cut(text, " ")
	if id == "" {
		return s3Token{}, invalid(fmt.Errorf("%q is no token of an upload", text))
	}
	return s3Token{sumMode(sums), id}, nil
}

func (b *s3Backend) begin(ctx context.Context, key, id string) (string, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return "", err
	}
	token := s3Token{sums: sumsNone}
	in := &s3.CreateMultipartUploadInput{
		Bucket: &b.bucket, Key: &key, ContentType: aws.String(contentType),
		Metadata:             map[string]string{writeIDName: id},
		ServerSideEncryption: types.ServerSideEncryption(b.opts.encryption),
		SSEKMSKeyId:          optional(b.opts.kmsKey),
	}
	if b.opts.sums() {
		in.ChecksumAlgorithm, in.ChecksumType = types.ChecksumAlgorithmCrc32c, types.ChecksumTypeFullObject
	}
	out, err := c.CreateMultipartUpload(ctx, in)
	if err != nil {
		return "", err
	}
	token.upload = aws.ToString(out.UploadId)
	if b.opts.sums() {
		token.sums = sumsParts
	}
	if out.ChecksumType == types.ChecksumTypeFullObject {
		token.sums = sumsWhole
	}
	return token.String(), nil
}

func (b *s3Backend) part(ctx context.Context, key, token string, n int, body *io.SectionReader, crc uint32) (string, error) {
	t, err := parseS3Token(token)
	if err != nil {
		return "", err
	}
	c, err := b.connect(ctx)
	if err != nil {
		return "", err
	}
	in := &s3.UploadPartInput{
		Bucket: &b.bucket, Key: &key, UploadId: &t.upload, PartNumber: aws.Int32(int32(n) + 1),
		// One of its own for each try: the last one may still be read.
		Body: io.NewSectionReader(body, 0, body.Size()), ContentLength: aws.Int64(body.Size()),
	}
	if t.sums != sumsNone {
		in.ChecksumCRC32C = sumText(crc)
	}
	out, err := c.UploadPart(ctx, in)
	if err != nil {
		return "", b.partError(ctx, key, t, err)
	}
	return aws.ToString(out.ETag), nil
}

// partError asks whether the upload is there, where the connection broke: some
// servers hang up on the part of one that is gone before they say so.
func (b *s3Backend) partError(ctx context.Context, key string, t s3Token, err error) error {
	if !hungUp(err) {
		return err
	}
	c, connectErr := b.connect(ctx)
	if connectErr != nil {
		return err
	}
	_, listErr := c.ListParts(ctx, &s3.ListPartsInput{Bucket: &b.bucket, Key: &key, UploadId: &t.upload, MaxParts: aws.Int32(1)})
	if errorCode(listErr) == "NoSuchUpload" {
		return uploadGone(listErr)
	}
	return err
}

func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// complete asks, where it is refused, whose object is there: the answer to a try
// of this process or an earlier one may have been lost.
func (b *s3Backend) complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error) {
	t, err := parseS3Token(token)
	if err != nil {
		return Object{}, err
	}
	if err := b.opts.allows(cond); err != nil {
		return Object{}, err
	}
	if err := b.stillThere(ctx, key, cond); err != nil {
		return Object{}, err
	}
	obj, err := b.completeOnce(ctx, key, t, parts, cond)
	if !slices.Contains([]error{ErrConflict, ErrExist, ErrNotExist}, kindOf(err)) {
		return obj, err
	}
	if found, headErr := b.head(ctx, key); headErr == nil && cond.id != "" && found.Metadata[writeIDName] == cond.id {
		return headObject(key, found), nil
	}
	return Object{}, err
}

// stillThere asks before a replacement, for MinIO takes If-Match as met where
// there is no object.
func (b *s3Backend) stillThere(ctx context.Context, key string, cond condition) error {
	if cond.version == "" {
		return nil
	}
	_, err := b.head(ctx, key)
	if errors.Is(kindOf(err), ErrNotExist) {
		return errors.Join(ErrConflict, err)
	}
	return err
}

func (b *s3Backend) completeOnce(ctx context.Context, key string, t s3Token, parts []part, cond condition) (Object, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return Object{}, err
	}
	in := &s3.CompleteMultipartUploadInput{
		Bucket: &b.bucket, Key: &key, UploadId: &t.upload,
		MultipartUpload: &types.CompletedMultipartUpload{},
	}
	for i, p := range parts {
		done := types.CompletedPart{PartNumber: aws.Int32(int32(i) + 1), ETag: aws.String(p.tag)}
		if t.sums != sumsNone {
			done.ChecksumCRC32C = sumText(p.crc)
		}
		in.MultipartUpload.Parts = append(in.MultipartUpload.Parts, done)
	}
	crc, size := crcOfParts(parts)
	if t.sums == sumsWhole {
		in.ChecksumType, in.ChecksumCRC32C = types.ChecksumTypeFullObject, sumText(crc)
	}
	in.IfNoneMatch, in.IfMatch = conditionHeaders(cond)
	out, err := c.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return Object{}, uploadError(err, cond)
	}
	return Object{Key: Key(key), Size: size, Version: unquote(out.ETag)}, nil
}

// uploadError reads what S3 says to the end of an upload: a conflict means that
// the parts are void and the upload is to begin again.
func uploadError(err error, cond condition) error {
	switch errorCode(err) {
	case "ConditionalRequestConflict", "NoSuchUpload", "InvalidPart":
		return uploadGone(err)
	case "NoSuchKey":
		if cond.version != "" {
			return errors.Join(ErrConflict, err) // the object that was to be replaced is gone
		}
	case "PreconditionFailed":
		if cond.absent {
			return errors.Join(ErrExist, brief(err))
		}
	}
	return err
}

func (b *s3Backend) abort(ctx context.Context, key, token string) error {
	t, err := parseS3Token(token)
	if err != nil {
		return err
	}
	c, err := b.connect(ctx)
	if err != nil {
		return err
	}
	_, err = c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.bucket, Key: &key, UploadId: &t.upload})
	if errorCode(err) == "NoSuchUpload" {
		return nil
	}
	return err
}

// unfinished asks for the whole bucket too where the server is not Amazon's and
// nothing was found: MinIO knows no prefix here but a whole key.
func (b *s3Backend) unfinished(ctx context.Context, prefix string) iter.Seq2[upload, error] {
	return func(yield func(upload, error) bool) {
		found := 0
		for u, err := range b.uploads(ctx, prefix) {
			found++
			if !yield(u, err) {
				return
			}
		}
		if found > 0 || prefix == "" || b.endpoint() == "" {
			return
		}
		for u, err := range b.uploads(ctx, "") {
			if (err != nil || strings.HasPrefix(u.key, prefix)) && !yield(u, err) {
				return
			}
		}
	}
}

// uploads takes one request for each 1,000. An error is the last thing yielded.
func (b *s3Backend) uploads(ctx context.Context, prefix string) iter.Seq2[upload, error] {
	return func(yield func(upload, error) bool) {
		in := &s3.ListMultipartUploadsInput{Bucket: &b.bucket, Prefix: &prefix}
		for more := true; more; {
			out, err := b.listUploads(ctx, in)
			if err != nil {
				yield(upload{}, err)
				return
			}
			for _, u := range out.Uploads {
				token := s3Token{upload: aws.ToString(u.UploadId)}
				if !yield(upload{aws.ToString(u.Key), token.String(), aws.ToTime(u.Initiated)}, nil) {
					return
				}
			}
			in.KeyMarker, in.UploadIdMarker = out.NextKeyMarker, out.NextUploadIdMarker
			more = aws.ToBool(out.IsTruncated) && aws.ToString(out.NextKeyMarker) != ""
		}
	}
}

func (b *s3Backend) listUploads(ctx context.Context, in *s3.ListMultipartUploadsInput) (*s3.ListMultipartUploadsOutput, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.ListMultipartUploads(ctx, in)
}

// checksum is known of what heirloom wrote, unless the user asked for no sums or
// the server has none of wholes.
func (b *s3Backend) checksum(ctx context.Context, key, version string) (uint32, bool, error) {
	c, err := b.connect(ctx)
	if err != nil {
		return 0, false, err
	}
	in := &s3.HeadObjectInput{Bucket: &b.bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled}
	if version != "" {
		in.IfMatch = aws.String(quote(version))
	}
	out, err := c.HeadObject(ctx, in)
	if err != nil || out.ChecksumType == types.ChecksumTypeComposite {
		return 0, false, err
	}
	// That of parts reads "sum-count".
	crc, known := parseSum(aws.ToString(out.ChecksumCRC32C))
	return crc, known, nil
}

// sumText is a CRC-32C as S3 and GCS write it.
func sumText(crc uint32) *string {
	return aws.String(base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc)))
}

func parseSum(text string) (crc uint32, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(raw), true
}

func conditionHeaders(c condition) (ifNoneMatch, ifMatch *string) {
	if c.absent {
		return aws.String("*"), nil
	}
	if c.version != "" {
		return nil, aws.String(quote(c.version))
	}
	return nil, nil
}
