package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// abandoned is after which time nobody is at work on a part file that cannot be
// locked.
const abandoned = 24 * time.Hour

// refusesPlaces reports whether err is that of a file system which takes a file
// only from front to back, as the mounts of object stores do: it refuses to open
// one for reading and writing, to lock it, to set its size, or to write elsewhere
// than at its end.
func refusesPlaces(err error) bool {
	var local *fs.PathError
	return errors.As(err, &local) && (errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL))
}

// openPartInSequence makes a part file for such a file system, where none can be
// taken up, nor locked: each try has one of its own. It removes what tries of the
// same identity left a day ago.
func openPartInSequence(root *os.Root, dir, identity string) (*partFile, error) {
	sum := sha256.Sum256([]byte(identity))
	p := &partFile{root: root, dir: dir, id: hex.EncodeToString(sum[:8]) + "-"}
	p.dropAbandoned()
	p.id += newWriteID()[:16]
	f, err := root.OpenFile(p.name(partEnd), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write into %s: %w", filepath.Join(root.Name(), dir), err)
	}
	p.file = f
	return p, nil
}

// dropAbandoned does what it can.
func (p *partFile) dropAbandoned() {
	entries, err := fs.ReadDir(p.root.FS(), p.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partStart+p.id) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = p.root.Remove(filepath.ToSlash(filepath.Join(p.dir, e.Name())))
		}
	}
}

// fetchInOrder fetches the object, several ranges at once, into memory, and
// writes them one after the other.
func (d *downloadOf) fetchInOrder(ctx context.Context) error {
	d.size = min(d.size, rangeSize, d.mover.opts.Memory)
	d.ranges = make([]part, (d.obj.Size+d.size-1)/d.size)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(d.mover.wideAtOnce())
	turn := make(chan struct{})
	close(turn)
	for n := range d.ranges {
		length := min(d.size, d.obj.Size-int64(n)*d.size)
		// In their order, so that the range whose turn it is never waits for one
		// behind it.
		if d.mover.memory.Acquire(groupCtx, length) != nil {
			break
		}
		mine, next := turn, make(chan struct{})
		turn = next
		group.Go(func() error {
			defer d.mover.memory.Release(length)
			if err := d.fetchInTurn(groupCtx, n, length, mine); err != nil {
				return err // and those behind end with groupCtx
			}
			close(next)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// fetchInTurn fetches range n and writes it when turn is closed.
func (d *downloadOf) fetchInTurn(ctx context.Context, n int, length int64, turn <-chan struct{}) error {
	body, offset := make(memoryFile, length), int64(n)*d.size
	err := d.mover.at(ctx, d.mover.wide, func() (err error) {
		d.ranges[n], err = d.fetch(ctx, offset, length, body)
		return err
	})
	if err != nil {
		return err
	}
	select {
	case <-turn:
		_, err = d.part.file.WriteAt(body, offset)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memoryFile is written to within its length.
type memoryFile []byte

func (m memoryFile) WriteAt(b []byte, offset int64) (int, error) { return copy(m[offset:], b), nil }
