package hdfsblob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	streamPart     = 4 << 20 // of what is held in memory
	smallestPart   = 32 << 20
	usualBlock     = 128 << 20
	partsPerObject = 64   // of an object that is neither small nor huge
	mostParts      = 8192 // which the NameNode joins in one step
)

// Part is one that was written.
type Part struct {
	Size int64  // bytes
	Tag  string // of PutPart
}

// PartSize is that of the parts of an object of size bytes, or of one of unknown length if size < 0: want unless that is
// 0 or makes too many. Each part is a block or several, and the fewer blocks the easier for the NameNode.
func (b *Bucket) PartSize(size, want int64) int64 {
	switch {
	case want > 0:
		return max(want, size/mostParts+1)
	case size < 0:
		return streamPart
	}
	block := cmp.Or(b.blockSize(), usualBlock)
	return max(min(max(smallestPart, size/partsPerObject), block), size/mostParts+1)
}

// Begin opens an upload in parts and returns its token, which is good in other processes too.
func (b *Bucket) Begin(ctx context.Context, key string) (token string, err error) {
	if key == "" {
		return "", dirtree.NoKey(b.root)
	}
	if _, err := b.newFile(ctx); err != nil { // looks whether the directory is one to write to
		return "", err
	}
	b.sweepOnce(ctx)
	token = keyname.NewTemp()
	err = b.with(ctx, "write", b.Path(key), func(c *client) error { return c.makeDir(b.partsDir(key, token)) })
	if err != nil {
		b.removeUpload(ctx, token) // of a name that is too long there is a part
	}
	return token, err
}

// partsDir is the directory of an upload's parts. The names above it are those of the key, which so is known to
// Unfinished.
func (b *Bucket) partsDir(key, token string) string { return path.Join(b.root, token, pathOf(key)) }

// PutPart writes a part of size bytes whose CRC-32C is crc. Where body has others the error is ErrCorrupt, and where
// the upload is gone fs.ErrNotExist. Parts may be written at the same time, and again.
func (b *Bucket) PutPart(ctx context.Context, key, token string, body io.Reader, size int64, crc uint32) (tag string, err error) {
	if !isToken(token) {
		return "", b.gone(key)
	}
	w, err := b.newWriter(ctx, b.Path(key), b.partsDir(key, token))
	if err != nil {
		return "", err
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, io.TeeReader(body, sum), make([]byte, 2*chunkSize))
	if err == nil && (w.size != size || sum.Sum32() != crc) {
		err = wrap("write", w.path, fmt.Errorf("%w: the part changed while it was sent", dirtree.ErrCorrupt))
	}
	if err != nil {
		return "", errors.Join(err, w.Abort())
	}
	made, err := w.finish()
	if err != nil {
		return "", errors.Join(err, w.Abort())
	}
	w.done = true
	w.lease.end(nil)
	return tagOf(path.Base(w.temp), made.id), nil
}

// A tag is the name of the part's file, which no other part has, and the number of its inode, which goes with the
// first part when it becomes the object.
func tagOf(name string, id uint64) string { return name + "/" + strconv.FormatUint(id, 16) }

func parseTag(tag string) (name string, id uint64, err error) {
	name, number, _ := strings.Cut(tag, "/")
	id, err = strconv.ParseUint(number, 16, 64)
	if err != nil || !keyname.IsTemp(name) {
		return "", 0, fmt.Errorf("%q is no part of an upload to HDFS: %w", tag, fs.ErrInvalid)
	}
	return name, id, nil
}

func isToken(token string) bool { return keyname.IsTemp(token) && !strings.Contains(token, "/") }

func (b *Bucket) gone(key string) error {
	return &dirtree.Error{Op: "write", Path: b.Path(key), Kind: fs.ErrNotExist, Err: errors.New("there is no such upload")}
}

// Complete joins the parts, of which there is at least one, in their order and publishes them as Create or Put would.
// It may be repeated, also where it was applied and its answer lost. The error is fs.ErrNotExist where the parts are gone,
// or are of no use any more because a snapshot holds them.
func (b *Bucket) Complete(ctx context.Context, key, token string, parts []Part, mode dirtree.Mode, id string) (dirtree.Object, error) {
	j, err := b.newJoint(key, token, parts)
	if err != nil {
		return dirtree.Object{}, wrap("write", b.Path(key), err)
	}
	var made inode
	err = b.with(ctx, "write", b.Path(key), func(c *client) (err error) {
		made, err = j.join(c)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		if now, statErr := b.stat(ctx, key); statErr == nil && now.id == j.id {
			return now.Object, nil // an earlier try was applied
		}
	}
	if err != nil {
		return dirtree.Object{}, err
	}
	if err := b.publish(ctx, made, j.first, b.Path(key), mode, id); err != nil {
		return dirtree.Object{}, err
	}
	b.removeUpload(ctx, token)
	made.Key = key
	return made.Object, nil
}

// joint is what the NameNode is to make one file of.
type joint struct {
	first string   // the file that the others are added to
	id    uint64   // its inode's number
	rest  []string // none of them empty, which the NameNode would refuse
	own   int64    // bytes of first alone
	size  int64    // of the whole
}

func (b *Bucket) newJoint(key, token string, parts []Part) (*joint, error) {
	if !isToken(token) || len(parts) == 0 {
		return nil, fmt.Errorf("%d parts of upload %q: %w", len(parts), token, fs.ErrInvalid)
	}
	j := &joint{}
	for _, p := range parts {
		name, id, err := parseTag(p.Tag)
		if err != nil {
			return nil, err
		}
		file := path.Join(b.partsDir(key, token), name)
		switch {
		case j.size == 0:
			j.first, j.id, j.own = file, id, p.Size
		case p.Size > 0:
			j.rest = append(j.rest, file)
		}
		j.size += p.Size
	}
	return j, nil
}

// join has the NameNode make one file unless an earlier try did, and looks at what came of it.
func (j *joint) join(c *client) (inode, error) {
	now, err := c.statFile(j.first)
	if err == nil && now.Size == j.own && len(j.rest) > 0 {
		if err = c.concat(j.first, j.rest); err == nil {
			now, err = c.statFile(j.first)
		}
	}
	if err == nil && (now.Size != j.size || now.id != j.id) {
		err = fmt.Errorf("%w: the parts make %d bytes of %d", dirtree.ErrCorrupt, now.Size, j.size)
	}
	return now, err
}

// Abort drops an upload; it is no error if there is none.
func (b *Bucket) Abort(ctx context.Context, key, token string) error {
	if !isToken(token) {
		return nil
	}
	dir := path.Join(b.root, token)
	return b.with(ctx, "remove", dir, func(c *client) error {
		_, err := c.removeAll(dir)
		return err
	})
}

// removeUpload drops what is left of an upload, also where the context has ended. Failing is no harm.
func (b *Bucket) removeUpload(ctx context.Context, token string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	_ = b.Abort(ctx, "", token)
}
