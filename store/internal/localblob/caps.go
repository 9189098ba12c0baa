package localblob

import (
	"context"
	"errors"
	"runtime"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// Capabilities say what the file system can be trusted with.
type Capabilities struct {
	Create  bool // exclusive creation with one winner
	Append  bool // AppendLines is whole among all machines that mount the directory, not only among processes of this one
	Durable bool // what was acknowledged survives loss of power, names included
}

// Capabilities returns what is known without touching anything: what such a file system usually can, less what an
// operation of this bucket found refused.
func (b *Bucket) Capabilities() Capabilities {
	c := Capabilities{
		Create:  !b.createFails.Load(),
		Append:  true,
		Durable: runtime.GOOS != "windows" && !b.syncRefused.Load(),
	}
	if b.seq {
		return Capabilities{}
	}
	root, err := b.reader()
	if err != nil {
		return c
	}
	dir, err := root.Open(".")
	if err != nil {
		return c
	}
	defer dir.Close()
	ok, err := appendsInOrder(dir)
	c.Append = ok && err == nil
	return c
}

// Probe tries exclusive creation and the flushing of the directory on a temporary file, and returns what it found.
// It makes the directory if there is none.
func (b *Bucket) Probe(ctx context.Context) (Capabilities, error) {
	w, err := b.NewWriter(ctx, "probe")
	if err != nil {
		return b.Capabilities(), err
	}
	w.path = keyname.TempStart + "probe-" + w.temp[len(keyname.TempStart):]
	_, err = w.Commit(dirtree.Create)
	if errors.Is(err, errors.ErrUnsupported) {
		return b.Capabilities(), nil
	}
	if err != nil {
		return b.Capabilities(), err
	}
	return b.Capabilities(), w.root.Remove(w.path)
}
