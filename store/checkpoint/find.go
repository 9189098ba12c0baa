package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// checksAtOnce is how many checkpoints are looked into at a time.
const checksAtOnce = 16

// Options adjust Find. Nil and the zero value are the defaults.
type Options struct {
	// Anywhere takes every file of a known format for a checkpoint, such as model.safetensors, which a run leaves as
	// its result. Else a file must lie below a directory named for checkpoints or be named for one: checkpoint, ckpt,
	// epoch, step.
	Anywhere bool
	// Filename is Horovod's checkpoint file; "" is checkpoint.h5.
	Filename string
	// Now is the clock for files that do not tell whether they are whole; nil is time.Now.
	Now func() time.Time
}

// Find lists the checkpoints below prefix, "" for the whole store, sorted by the directory they lie in and by Compare
// within it. Those that are not whole are among them, with the reason. It lists once, then reads the markers, indices
// and ends of files of the versions that were listed, then asks again for each marker: a writer at work never makes
// one look whole that is not. opts may be nil.
func Find(ctx context.Context, s *store.Store, prefix store.Key, opts *Options) ([]*Checkpoint, error) {
	if opts == nil {
		opts = &Options{}
	}
	top, err := list(ctx, s, prefix)
	if err != nil {
		return nil, err
	}
	f := &finder{s: s, opts: *opts, local: s.Scheme() == "file"}
	if f.opts.Now == nil {
		f.opts.Now = time.Now
	}
	if len(top.files) == 0 && len(top.dirs) == 0 && prefix != "" {
		return f.single(ctx, prefix)
	}
	f.walk(top)
	return f.judge(ctx)
}

// finder is one call of Find.
type finder struct {
	s      *store.Store
	opts   Options
	local  bool // files may be seen while they are written
	drafts []*draft
}

// draft is a checkpoint by its names, with what it takes to say that it is whole.
type draft struct {
	Checkpoint
	check func(ctx context.Context) error // a reason, or what kept it from looking; nil is whole
}

// single looks at the one object of that key.
func (f *finder) single(ctx context.Context, key store.Key) ([]*Checkpoint, error) {
	o, err := f.s.Stat(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := newDir(key.Dir(), nil)
	d.files[key.Base()] = o
	f.opts.Anywhere = true
	f.fileSets(d)
	return f.judge(ctx)
}

// walk takes what d is, or else what it holds.
func (f *finder) walk(d *dir) {
	for _, recognise := range []func(*dir) *draft{f.orbax, f.huggingFace, f.deepSpeed, f.savedModel} {
		if found := recognise(d); found != nil {
			f.add(d, found, d.all())
			return
		}
	}
	if found := f.dcp(d); found != nil {
		f.add(d, found, d.own())
	} else {
		f.fileSets(d)
	}
	for _, sub := range d.subs() {
		f.walk(sub)
	}
}

// add takes a directory as a checkpoint.
func (f *finder) add(d *dir, found *draft, files []store.Object) {
	found.Path, found.Dir = d.key, d.key
	found.take(files)
	f.drafts = append(f.drafts, found)
}

// judge looks into all drafts.
func (f *finder) judge(ctx context.Context) ([]*Checkpoint, error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(checksAtOnce)
	for _, d := range f.drafts {
		group.Go(func() (err error) {
			d.Reason, err = verdict(f.look(groupCtx, d))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("find checkpoints: %w", err)
	}
	list := make([]*Checkpoint, len(f.drafts))
	for i, d := range f.drafts {
		list[i] = &d.Checkpoint
	}
	slices.SortFunc(list, func(a, b *Checkpoint) int {
		if byDir := compareKeys(a.Path.Dir(), b.Path.Dir()); byDir != 0 {
			return byDir
		}
		return Compare(a, b)
	})
	return list, nil
}

func compareKeys(a, b store.Key) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// look checks a draft, and then that its markers are still those that were listed.
func (f *finder) look(ctx context.Context, d *draft) error {
	if err := d.check(ctx); err != nil {
		return err
	}
	for _, o := range d.Files {
		if !slices.Contains(d.markers, o.Key) {
			continue
		}
		now, err := f.s.Stat(ctx, o.Key)
		if err != nil {
			return err
		}
		if changed(o, now) {
			return notWhole("it changed while it was looked at")
		}
	}
	return nil
}

// changed compares by version, since a listing may tell the time more exactly than other requests do.
func changed(before, now store.Object) bool {
	if before.Version != "" {
		return now.Version != before.Version
	}
	return now.Size != before.Size || !now.Modified.Equal(before.Modified)
}
