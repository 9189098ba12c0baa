package dbfsblob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const defaultType = "application/octet-stream"

// stored is what the file of an object's attributes holds. They are those of one version: what replaces the object by
// another way leaves them behind, and they count no more.
type stored struct {
	Version string    `json:"version"`
	Attrs   attrs.Set `json:"attrs"`
}

// attrsPath is the file of the attributes of key. Neither API keeps any, so they lie in files of their own, which only
// gocloud's interface makes, and only for what is not a default.
func (b *Bucket) attrsPath(key string) string {
	sum := sha256.Sum256([]byte(key))
	return path.Join(b.root, attrsDir, hex.EncodeToString(sum[:]))
}

func (b *Bucket) writeAttributes(ctx context.Context, key string, set attrs.Set) error {
	if set.Encode(defaultType) == nil {
		return nil // an older file does not count for the new version
	}
	o, err := b.Stat(ctx, key)
	if err != nil {
		return err
	}
	data, err := json.Marshal(stored{o.Version, set})
	if err != nil {
		return err
	}
	return wrap("write", b.attrsPath(key), b.api.write(ctx, b.attrsPath(key), data, dirtree.Replace))
}

// readAttributes gives those of the version that o describes, the defaults where there are none.
func (b *Bucket) readAttributes(ctx context.Context, key string, o dirtree.Object) (attrs.Set, error) {
	none := attrs.Set{ContentType: defaultType}
	body, _, err := b.api.open(ctx, b.attrsPath(key), 0, -1, "")
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, wrap("read", b.attrsPath(key), err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return none, wrap("read", b.attrsPath(key), err)
	}
	var s stored
	if json.Unmarshal(data, &s) != nil || s.Version != o.Version {
		return none, nil
	}
	s.Attrs.ContentType = cmp.Or(s.Attrs.ContentType, defaultType)
	return s.Attrs, nil
}

func (b *Bucket) removeAttributes(ctx context.Context, key string) error {
	err := b.api.remove(ctx, b.attrsPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	b.prune(ctx, path.Dir(b.attrsPath(key)))
	return wrap("delete", b.attrsPath(key), err)
}
