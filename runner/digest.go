package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Keys of the metadata of a directory that was registered as one artifact.
const (
	// KeyFiles is the number of regular files.
	KeyFiles = "heirloom.files"
	// KeyTreeSHA256 is the SHA-256 of one line for each file, sorted by path, bytewise:
	// its SHA-256, a space, its size, a space, its slash path, "\n".
	KeyTreeSHA256 = "heirloom.tree_sha256"
)

// digestOf reads r to its end, unless ctx ends first.
func digestOf(ctx context.Context, r io.Reader) (store.Digest, int64, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(b)
	}), make([]byte, 256<<10))
	if err != nil {
		return "", n, err
	}
	return store.DigestFrom(h), n, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// tree sums up the files of a directory.
type tree struct {
	files int64
	bytes int64
	lines []treeLine
}

// treeLine is what the digest of a tree holds of one file.
type treeLine struct{ path, text string }

func (t *tree) add(path string, m *pyjson.Object) {
	size, _ := m.Get(tracker.KeySizeBytes)
	n, _ := size.(int64)
	t.files++
	t.bytes += n
	t.lines = append(t.lines, treeLine{path, fmt.Sprintf("%s %d %s\n", m.Text(tracker.KeySHA256), n, path)})
}

func (t *tree) describe(m *pyjson.Object, hash HashMode) {
	if hash == HashNone {
		return
	}
	m.Set(tracker.KeySizeBytes, t.bytes)
	m.Set(KeyFiles, t.files)
	if hash != HashSize {
		m.Set(KeyTreeSHA256, string(t.digest()))
	}
}

// digest is the same wherever the tree lies: a walk of directories has "a/b" before "a-b", a listing of keys behind it.
func (t *tree) digest() store.Digest {
	slices.SortFunc(t.lines, func(a, b treeLine) int { return cmp.Compare(a.path, b.path) })
	var all []byte
	for _, line := range t.lines {
		all = append(all, line.text...)
	}
	return store.DigestOf(all)
}
