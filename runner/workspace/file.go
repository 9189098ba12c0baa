package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/heirloom-ml/heirloom/store"
)

const readBuffer = 128 << 10

// changed says that a tree is not what it was a moment ago.
func changed(path, how string) error {
	return fmt.Errorf("%q %s while the workspace was read: stop what writes there, or name it in .heirloomignore: %w", path, how, store.ErrConflict)
}

// open opens the file that was found, or says that it is another by now.
func (e found) open(full string) (*os.File, error) {
	f, err := os.OpenFile(full, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	if err := e.unchanged(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (e found) unchanged(f *os.File) error {
	now, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(e.info, now):
		return changed(e.Path, "was replaced")
	case now.Size() != e.info.Size() || !now.ModTime().Equal(e.info.ModTime()) || now.Mode() != e.info.Mode():
		return changed(e.Path, "changed")
	}
	return nil
}

// hashFile reads a file to its end and makes sure that it stayed as it was.
func hashFile(ctx context.Context, full string, e found) (digest store.Digest, err error) {
	f, err := e.open(full)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.CopyBuffer(h, &contextReader{ctx, f}, make([]byte, readBuffer))
	if err != nil {
		return "", err
	}
	if n != e.Size {
		return "", changed(e.Path, "changed")
	}
	return store.DigestFrom(h), e.unchanged(f)
}

// contextReader ends with the context.
type contextReader struct {
	ctx context.Context // of one read of one file
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// verifier reads a file and fails at its end, in place of io.EOF, if it was not
// what it should be.
type verifier struct {
	r    io.Reader
	h    hash.Hash
	want store.Digest
	fail func() error
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	v.h.Write(p[:n])
	if errors.Is(err, io.EOF) && store.DigestFrom(v.h) != v.want {
		err = v.fail()
	}
	return n, err
}

func newVerifier(r io.Reader, want store.Digest, fail func() error) *verifier {
	return &verifier{r: r, h: sha256.New(), want: want, fail: fail}
}
