package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const (
	headSize   = 64 << 10 // bytes read before the version is looked at again; a whole small object
	maxReopen  = 5        // times that an object is opened anew because it changed meanwhile
	maxSuspect = 3        // times in a row that bytes are read again from another replica
)

// Reader streams a range of one version of an object. Not safe for concurrent use; open one for each range.
type Reader struct {
	object inode
	attrs  map[string]string
	lease  *lease // nil once nothing more is to be read
	file   *hdfs.FileReader
	path   string
	head   []byte // read, but not yet handed out
	offset int64  // of the next byte from the file
	left   int64  // bytes still to come from the file
	tries  int    // suspect reads in a row
	err    error
}

// Open begins to read length bytes from offset on, up to the end if length < 0. With a version other than "" it fails
// with ErrConflict if the object has another. The caller closes the reader.
func (b *Bucket) Open(ctx context.Context, key string, offset, length int64, version string) (*Reader, error) {
	return b.open(ctx, key, offset, length, version, false)
}

func (b *Bucket) open(ctx context.Context, key string, offset, length int64, version string, attrs bool) (*Reader, error) {
	path := b.Path(key)
	for range maxReopen {
		r := &Reader{path: path}
		var same bool
		l, err := b.hold(ctx, "read", path, func(c *client) (err error) {
			same, err = r.start(c, offset, length, version, attrs)
			return err
		})
		if err != nil {
			return nil, err
		}
		r.lease, r.object.Key = l, key
		if same {
			r.release()
			return r, nil
		}
		r.left = 0
		r.release()
		if version != "" {
			return nil, wrap("read", path, dirtree.ErrConflict)
		}
	}
	return nil, &dirtree.Error{Op: "read", Path: path, Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("it was replaced %d times while being opened", maxReopen)}
}

// start opens the file and reads its head, which makes the library ask where the blocks are. The library takes size
// and blocks by name in two requests, between which the name may have come to mean another file; so the name is
// looked up once more, and same says whether it still means the first.
func (r *Reader) start(c *client, offset, length int64, version string, attrs bool) (same bool, err error) {
	if r.file, err = c.Open(r.path); err != nil {
		return false, c.denied(absent(err), r.path, toRead)
	}
	info := r.file.Stat()
	if info.IsDir() {
		_, err := c.statFile(r.path)
		return false, err
	}
	if err := readable(info); err != nil {
		return false, err
	}
	if err := c.checkServer(); err != nil {
		return false, err
	}
	r.object = newInode(info)
	if version != "" && version != r.object.Version {
		return false, dirtree.ErrConflict
	}
	if attrs {
		if r.attrs, err = c.attributes(r.path); err != nil {
			return false, err
		}
	}
	r.offset = min(offset, r.object.Size)
	r.left = r.object.Size - r.offset
	if length >= 0 {
		r.left = min(r.left, length)
	}
	if err := r.readHead(c); err != nil {
		return false, c.denied(err, r.path, toRead)
	}
	now, err := c.statFile(r.path)
	return err == nil && now.id == r.object.id, err
}

func (r *Reader) readHead(c *client) error {
	r.head = make([]byte, min(r.left, headSize))
	if len(r.head) == 0 {
		return nil
	}
	if _, err := r.file.Seek(r.offset, io.SeekStart); err != nil {
		return err
	}
	for done := 0; done < len(r.head); {
		n, err := r.readFile(r.head[done:])
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// Object describes the whole object, as it was when it was opened.
func (r *Reader) Object() dirtree.Object { return r.object.Object }

// Read implements io.Reader. It ends with io.EOF after the last byte of the range and never before.
func (r *Reader) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	switch {
	case r.err != nil:
		return 0, r.err
	case r.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	var n int
	err := r.lease.do(func(*client) (err error) {
		n, err = r.readFile(p[:min(int64(len(p)), r.left)])
		return err
	})
	r.err = wrap("read", r.path, err)
	r.release()
	return n, r.err
}

// readFile reads on, again if the bytes are suspect: the library hands out those whose checksum is wrong, or behind
// which the connection broke, as if they were good, and only marks the DataNode to be avoided.
func (r *Reader) readFile(p []byte) (int, error) {
	for {
		n, err := r.file.Read(p)
		switch {
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("%w: it ended %d bytes early", dirtree.ErrCorrupt, r.left)
		case err != nil:
			return 0, corrupt(err)
		case !suspect(r.file):
			r.tries = 0
			r.offset, r.left = r.offset+int64(n), r.left-int64(n)
			return n, nil
		}
		if r.tries++; r.tries > maxSuspect {
			return 0, fmt.Errorf("%w: no replica gives bytes that fit their checksum", dirtree.ErrCorrupt)
		}
		if _, err := r.file.Seek(r.offset, io.SeekStart); err != nil {
			return 0, err
		}
	}
}

// suspect reports whether the last Read met an error that the library keeps to itself. It drops the stream of the
// block then, which shows in fields that are not exported; they are only looked at.
func suspect(f *hdfs.FileReader) bool {
	block := reflect.ValueOf(f).Elem().FieldByName("blockReader")
	return !block.IsNil() && block.Elem().FieldByName("stream").IsNil()
}

// corrupt tells a wrong checksum from a broken connection. The library has no exported error for it.
func corrupt(err error) error {
	if err.Error() == "invalid checksum" {
		return fmt.Errorf("%w: %w", dirtree.ErrCorrupt, err)
	}
	return err
}

// release gives the client back once all is read or nothing more will be.
func (r *Reader) release() {
	if r.lease == nil || r.left > 0 && r.err == nil {
		return
	}
	r.file.Close() // only read
	r.lease.end(r.err)
	r.lease = nil
}

// Close ends the reading.
func (r *Reader) Close() error {
	r.left, r.head = 0, nil
	r.release()
	return nil
}
