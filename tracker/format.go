package tracker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	formatKey     = store.Key("heirloom.json")
	formatVersion = 1 // what this package reads and writes
)

// Format is what heirloom.json says about a root. The zero value is a root
// without that file, such as TorchX makes, which is read and written as version 1.
type Format struct {
	Version      int  // what a reader must understand
	OldestWriter int  // the lowest version that may still write
	Shared       bool // the root is written by several users
	Created      time.Time
	Writer       string // who created it
}

// InitOptions adjust Init.
type InitOptions struct {
	Shared bool // several users write to this root
}

// formatCache keeps the first answer: the file is never changed.
type formatCache struct {
	mu    sync.Mutex
	known *Format // guarded by mu; nil until read
}

// Init creates heirloom.json, which also makes the root exist as TorchX asks. A
// root that has one already is left as it is; asking for a shared root that was
// made otherwise is store.ErrExist.
func (t *FileTracker) Init(ctx context.Context, opts InitOptions) error {
	f := Format{Version: formatVersion, OldestWriter: formatVersion, Shared: opts.Shared, Created: t.opts.Now(), Writer: t.opts.Writer}
	body, err := f.body()
	if err != nil {
		return fmt.Errorf("init tracker: %w", err)
	}
	if err = t.s.Create(ctx, formatKey, body); err != nil && !errors.Is(err, store.ErrExist) {
		return fmt.Errorf("init tracker: %w", err)
	}
	t.format.set(nil)
	if f, err = t.Format(ctx); err != nil {
		return fmt.Errorf("init tracker: %w", err)
	}
	if opts.Shared && !f.Shared {
		err := fmt.Errorf("%s exists and is not shared", t.s.KeyURL(formatKey))
		return &store.Error{Op: "init tracker", Kind: store.ErrExist, Err: err}
	}
	return t.writable(ctx)
}

// Format reads heirloom.json, once; every other method asks it first. A root
// that only a newer heirloom understands is store.ErrUnsupported, a file that
// cannot be understood store.ErrCorrupt.
func (t *FileTracker) Format(ctx context.Context) (Format, error) {
	f := t.format.get()
	if f == nil {
		body, err := t.s.Get(ctx, formatKey)
		switch {
		case errors.Is(err, store.ErrNotExist):
			f = &Format{}
		case err != nil:
			return Format{}, fmt.Errorf("read format of tracker: %w", err)
		default:
			if f, err = parseFormat(body); err != nil {
				return Format{}, &store.Error{Op: "read format of tracker", Key: t.s.KeyURL(formatKey), Kind: store.ErrCorrupt, Err: err}
			}
		}
		t.format.set(f)
	}
	if f.Version > formatVersion {
		return *f, t.newer("was made in format %d, and this heirloom reads up to format %d: use a newer heirloom, or another root", f.Version)
	}
	return *f, nil
}

// readable is asked before every read.
func (t *FileTracker) readable(ctx context.Context) error {
	_, err := t.Format(ctx)
	return err
}

// writable is asked before every write.
func (t *FileTracker) writable(ctx context.Context) error {
	f, err := t.Format(ctx)
	if err == nil && f.OldestWriter > formatVersion {
		err = t.newer("takes writers of format %d or later, and this heirloom writes format %d: it can be read, but to write use a newer heirloom", f.OldestWriter)
	}
	return err
}

func (t *FileTracker) newer(sentence string, version int) error {
	err := fmt.Errorf("the tracker root "+sentence, version, formatVersion)
	return &store.Error{Op: "open tracker", Key: t.s.URL(), Kind: store.ErrUnsupported, Err: err}
}

func (f Format) body() ([]byte, error) {
	return pyjson.Marshal(pyjson.NewObject(
		pyjson.Member{Key: "format", Value: f.Version},
		pyjson.Member{Key: "oldest_writer", Value: f.OldestWriter},
		pyjson.Member{Key: "shared", Value: f.Shared},
		pyjson.Member{Key: "created", Value: formatTime(f.Created)},
		pyjson.Member{Key: "writer", Value: f.Writer}))
}

func parseFormat(body []byte) (*Format, error) {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return nil, err
	}
	f := &Format{Created: parseTime(o.Text("created")), Writer: o.Text("writer")}
	for key, to := range map[string]*int{"format": &f.Version, "oldest_writer": &f.OldestWriter} {
		v, _ := o.Get(key)
		n, ok := v.(int64)
		if !ok || n < 1 || n > 1<<30 {
			return nil, fmt.Errorf("%q is not a version", key)
		}
		*to = int(n)
	}
	shared, _ := o.Get("shared")
	f.Shared, _ = shared.(bool)
	return f, nil
}

func (c *formatCache) get() *Format {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

func (c *formatCache) set(f *Format) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = f
}
