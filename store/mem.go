package store

import (
	"context"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memPart is the size of a part where nobody wants another.
const memPart = 8 << 20

// memBackend is a bucket in memory that takes objects in parts.
type memBackend struct {
	*bucketBackend

	mu      sync.Mutex            // guards all below
	begun   int                   // uploads so far
	uploads map[string]*memUpload // by token
}

type memUpload struct {
	upload
	parts map[int][]byte
}

func (b *memBackend) partSize(_, want int64) int64 {
	if want > 0 {
		return want
	}
	return memPart
}

func (b *memBackend) begin(_ context.Context, key, _ string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun++
	token := strconv.Itoa(b.begun)
	if b.uploads == nil {
		b.uploads = map[string]*memUpload{}
	}
	b.uploads[token] = &memUpload{upload{key, token, time.Now()}, map[int][]byte{}}
	return token, nil
}

func (b *memBackend) part(_ context.Context, key, token string, n int, body *io.SectionReader, _ uint32) (string, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.uploads[token]
	if u == nil || u.key != key {
		return "", ErrNotExist
	}
	u.parts[n] = data
	return strconv.Itoa(n), nil
}

func (b *memBackend) complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.uploads[token]
	if u == nil || u.key != key {
		return Object{}, ErrNotExist
	}
	var body []byte
	for n := range parts {
		body = append(body, u.parts[n]...)
	}
	obj, err := b.write(ctx, key, body, cond)
	if err == nil {
		delete(b.uploads, token)
	}
	return obj, err
}

func (b *memBackend) abort(_ context.Context, _, token string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.uploads, token)
	return nil
}

func (b *memBackend) unfinished(_ context.Context, prefix string) iter.Seq2[upload, error] {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []upload
	for u := range maps.Values(b.uploads) {
		if strings.HasPrefix(u.key, prefix) {
			list = append(list, u.upload)
		}
	}
	slices.SortFunc(list, func(a, b upload) int { return strings.Compare(a.key+"\x00"+a.token, b.key+"\x00"+b.token) })
	return func(yield func(upload, error) bool) {
		for _, u := range list {
			if !yield(u, nil) {
				return
			}
		}
	}
}
