package localblob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

const (
	uploadEnd = ".upload" + keyname.TempEnd
	// uploadAge is how long the parts of a process that died are kept for one that goes on with them.
	uploadAge  = 8 * 24 * time.Hour
	uploadAttr = "user.heirloom.upload" // the key, on the temporary file
	copyBuffer = 256 << 10
)

// Upload is an object that was begun and neither completed nor given up.
type Upload struct {
	Key, Token string
	Begun      time.Time // or last written to
}

// BeginUpload begins an object that is written piece by piece, by several goroutines or processes. Nothing is visible
// before CompleteUpload.
func (b *Bucket) BeginUpload(ctx context.Context, key string) (token string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	root, err := b.writer()
	if err != nil {
		return "", err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	token = hex.EncodeToString(id[:])
	f, err := root.OpenFile(uploadName(token), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return "", err
	}
	// Where the file system keeps no attributes, Uploads does not know the key, and Sweep reclaims what is left over.
	_ = setXattr(f, uploadAttr, []byte(key))
	return token, f.Close()
}

func uploadName(token string) string { return keyname.TempStart + token + uploadEnd }

// openUpload opens the file of an upload; the error is fs.ErrNotExist where it is gone, or has become an object.
func (b *Bucket) openUpload(token string) (*os.File, error) {
	gone := &fs.PathError{Op: "open", Path: token, Err: fs.ErrNotExist}
	if _, err := hex.DecodeString(token); err != nil {
		return nil, gone
	}
	root, err := b.reader()
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(uploadName(token), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && hasOtherNames(info) {
		err = gone // a crash came between the object's name and the removal of this one
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteAt writes all of r at offset of the upload and returns its CRC-32C.
func (b *Bucket) WriteAt(ctx context.Context, token string, offset int64, r io.Reader) (uint32, error) {
	f, err := b.openUpload(token)
	if err != nil {
		return 0, err
	}
	crc, n, err := b.copyTo(ctx, f, offset, r)
	if err == nil {
		startWriteback(f, offset, n) // so that less is left to do at the end
	}
	return crc, errors.Join(err, f.Close())
}

func (b *Bucket) copyTo(ctx context.Context, f *os.File, offset int64, r io.Reader) (crc uint32, written int64, err error) {
	buffer := make([]byte, copyBuffer)
	for {
		if err := ctx.Err(); err != nil {
			return crc, written, err
		}
		n, err := io.ReadFull(r, buffer)
		if n > 0 {
			if _, err := f.WriteAt(buffer[:n], offset+written); err != nil {
				return crc, written, err
			}
			crc = addCRC(crc, buffer[:n])
			written += int64(n)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return crc, written, nil
		}
		if err != nil {
			return crc, written, err
		}
	}
}

func addCRC(crc uint32, p []byte) uint32 {
	return crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), p)
}

// SumAt returns the CRC-32C of a range of the upload, io.ErrUnexpectedEOF where it does not reach so far.
func (b *Bucket) SumAt(ctx context.Context, token string, offset, length int64) (uint32, error) {
	f, err := b.openUpload(token)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buffer := make([]byte, copyBuffer)
	crc := uint32(0)
	for length > 0 && ctx.Err() == nil {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), length)], offset)
		if n == 0 {
			return 0, errors.Join(io.ErrUnexpectedEOF, err)
		}
		crc = addCRC(crc, buffer[:n])
		offset += int64(n)
		length -= int64(n)
	}
	return crc, ctx.Err()
}

// CompleteUpload makes the object durable and visible, like a Writer's Commit. It must be size bytes long.
func (b *Bucket) CompleteUpload(ctx context.Context, key, token string, size int64, mode dirtree.Mode) (dirtree.Object, error) {
	f, err := b.openUpload(token)
	if err != nil {
		return dirtree.Object{}, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != size {
		err = &fs.PathError{Op: "write", Path: key, Err: fmt.Errorf("%d bytes of %d arrived: %w", info.Size(), size, io.ErrUnexpectedEOF)}
	}
	if err != nil {
		return dirtree.Object{}, errors.Join(err, f.Close())
	}
	_ = removeXattr(f, uploadAttr) // it may have none
	root, top := b.opened()
	w := &Writer{b: b, ctx: ctx, root: root, top: top, path: pathOf(key), temp: uploadName(token), file: f}
	info, err = w.settle()
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.publish(mode) // what fails may be tried again, so the parts stay
	}
	if err != nil {
		return dirtree.Object{}, err
	}
	return newObject(key, info), nil
}

// AbortUpload drops what was written. It is no error if nothing is there.
func (b *Bucket) AbortUpload(ctx context.Context, token string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := b.reader()
	if err != nil {
		return err
	}
	if _, err := hex.DecodeString(token); err != nil {
		return nil
	}
	if err := root.Remove(uploadName(token)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Uploads lists those begun, by any process, whose key begins with prefix, in the order of their keys. An error is the
// last thing yielded.
func (b *Bucket) Uploads(ctx context.Context, prefix string) iter.Seq2[Upload, error] {
	return func(yield func(Upload, error) bool) {
		list, err := b.uploads(ctx, prefix)
		slices.SortFunc(list, func(a, b Upload) int { return strings.Compare(a.Key+"\x00"+a.Token, b.Key+"\x00"+b.Token) })
		for _, u := range list {
			if !yield(u, nil) {
				return
			}
		}
		if err != nil {
			yield(Upload{}, err)
		}
	}
}

func (b *Bucket) uploads(ctx context.Context, prefix string) ([]Upload, error) {
	root, err := b.reader()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []Upload
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u, ok := b.uploadNamed(name); ok && strings.HasPrefix(u.Key, prefix) {
			list = append(list, u)
		}
	}
	return list, nil
}

func (b *Bucket) uploadNamed(name string) (Upload, bool) {
	if !keyname.IsTemp(name) || !strings.HasSuffix(name, uploadEnd) {
		return Upload{}, false
	}
	token := strings.TrimSuffix(strings.TrimPrefix(name, keyname.TempStart), uploadEnd)
	f, err := b.openUpload(token)
	if err != nil {
		return Upload{}, false // it has ended meanwhile
	}
	defer f.Close()
	key, err := getXattr(f, uploadAttr)
	info, statErr := f.Stat()
	if err != nil || statErr != nil || len(key) == 0 {
		return Upload{}, false
	}
	return Upload{Key: string(key), Token: token, Begun: info.ModTime()}, true
}
