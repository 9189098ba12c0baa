package store

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestNameless finds what was begun without anybody learning of it, and none of
// what may be another writer's.
func TestNameless(t *testing.T) {
	for name, server := range map[string]func(testing.TB) servers.S3{"minio": servers.MinIO, "versitygw": servers.VersityGW} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), server(t).WithBucket(t, "nameless").URL(""), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			b := s.back.(*s3Backend)
			own, lost, busy := beginFor(t, b, "k"), beginFor(t, b, "k"), beginFor(t, b, "k")
			beginFor(t, b, "k2")
			body := bytes.Repeat([]byte("x"), 1000)
			if _, err := b.part(t.Context(), "k", busy, 0, io.NewSectionReader(bytes.NewReader(body), 0, 1000), crc32c(body)); err != nil {
				t.Fatal(err)
			}
			for what, c := range map[string]struct {
				token          string
				oldest, newest time.Duration
				want           []string
			}{
				"begun while we tried":          {own, time.Minute, 0, []string{lost}},
				"where our own begin failed":    {"", time.Minute, 0, []string{own, lost}},
				"begun before our first try":    {own, -2 * slack, 0, nil},
				"begun after the answer to our": {own, time.Minute, 2 * slack, nil},
			} {
				list, err := b.nameless(t.Context(), "k", c.token, c.oldest, c.newest)
				if got := uploadIDs(list); err != nil || !slices.Equal(got, idsOf(t, c.want)) {
					t.Errorf("%s: %q, %v, want %q", what, got, err, idsOf(t, c.want))
				}
			}
		})
	}
}

// TestNamelessOfOthers leaves alone what another tool begins, where the server
// tells its checksums.
func TestNamelessOfOthers(t *testing.T) {
	s, err := Open(t.Context(), servers.MinIO(t).WithBucket(t, "others").URL(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := s.back.(*s3Backend)
	c, err := b.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := "k"
	if _, err := c.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &b.bucket, Key: &key, ChecksumAlgorithm: "SHA256"}); err != nil {
		t.Fatal(err)
	}
	if list, err := b.nameless(t.Context(), key, "", time.Minute, 0); err != nil || len(list) > 0 {
		t.Errorf("of another tool: %v, %v", list, err)
	}
}

func beginFor(t *testing.T, b *s3Backend, key string) (token string) {
	t.Helper()
	token, err := b.begin(t.Context(), key, writeID)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func idsOf(t *testing.T, tokens []string) []string {
	t.Helper()
	var list []upload
	for _, token := range tokens {
		list = append(list, upload{token: token})
	}
	return uploadIDs(list)
}

// uploadIDs are those that the server gave, sorted.
func uploadIDs(list []upload) (ids []string) {
	for _, u := range list {
		token, err := parseS3Token(u.token)
		if err != nil {
			token.upload = err.Error()
		}
		ids = append(ids, token.upload)
	}
	slices.Sort(ids)
	return ids
}
