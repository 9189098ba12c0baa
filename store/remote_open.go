package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RemoteOptions adjust OpenRemote. Nil and the zero value are the defaults.
type RemoteOptions struct {
	// URL is that of a store which holds the paths of the view, with the options
	// of the connection that a view does not carry. "" is the view's runs path.
	URL string
	// TempDir is where scratch is made. "" is the system's.
	TempDir string
	// Store are the options of the connection; its paths are the view's.
	Store Options
	// Sync are those of the mirror; StateDir is not heeded.
	Sync SyncOptions
}

// Remote is a worker's hold on the output of a run, what Horovod's workers get
// from RemoteStore. It is safe for concurrent use.
type Remote struct {
	store   *Store
	dir     string
	scratch string // "" where dir is the run's own
	mirror  *Sync  // nil where nothing is to be sent
	end     func() error
}

// OpenRemote makes what the view of a run, from Layout.Remote, speaks of usable
// in this process. On a local store the output directory is the run's own; on any
// other it is scratch, mirrored by Sync and Close; where runs are not saved it is
// scratch that nobody mirrors. The error has kind ErrInvalid for a view that does
// not fit the store, ErrUnsupported for mem, which other processes cannot see. The
// caller closes the Remote. What Close sends is not bound to ctx.
func OpenRemote(ctx context.Context, view RemoteView, opts *RemoteOptions) (*Remote, error) {
	if opts == nil {
		opts = &RemoteOptions{}
	}
	s, key, err := openView(ctx, view, opts)
	if err != nil {
		return nil, err
	}
	r := &Remote{store: s}
	if err := r.settle(view, key, opts); err != nil {
		return nil, errors.Join(err, s.Close(), r.removeScratch())
	}
	lasting := context.WithoutCancel(ctx)
	r.end = func() error { return r.close(lasting) }
	return r, nil
}

// openView opens the store that the view lies in, and finds the run there.
func openView(ctx context.Context, view RemoteView, opts *RemoteOptions) (*Store, Key, error) {
	url := opts.URL
	if url == "" {
		url = view.RunsPath
	}
	if strings.HasPrefix(url, "mem:") {
		return nil, "", &Error{Op: "open remote", Key: url, Kind: ErrUnsupported, Err: errors.New("memory is not shared between processes")}
	}
	s, err := Open(ctx, url, &opts.Store)
	if err != nil {
		return nil, "", err
	}
	text, err := belowRoot(s.KeyURL(""), view.RunPath)
	if err == nil {
		err = checkKey(text)
	}
	if err != nil {
		err = &Error{Op: "open remote", Key: RedactURL(view.RunPath), Kind: ErrInvalid, Err: err}
		return nil, "", errors.Join(err, s.Close())
	}
	return s, Key(text), nil
}

// settle makes the output directory and the mirror.
func (r *Remote) settle(view RemoteView, key Key, opts *RemoteOptions) error {
	local := false
	if r.dir, local = r.store.LocalPath(key); local && view.SavingRuns {
		return r.store.wrap("open remote", r.dir, os.MkdirAll(r.dir, 0o777))
	}
	var err error
	if r.scratch, err = os.MkdirTemp(opts.TempDir, "heirloom-remote-"); err != nil {
		return r.store.wrap("open remote", opts.TempDir, err)
	}
	r.dir = filepath.Join(r.scratch, "output")
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		return r.store.wrap("open remote", r.dir, err)
	}
	if !view.SavingRuns {
		return nil
	}
	sync := opts.Sync
	sync.StateDir = filepath.Join(r.scratch, "sync")
	r.mirror, err = r.store.NewSync(r.dir, key, &sync)
	return err
}

// LocalOutputDir is the local directory that the worker writes into.
func (r *Remote) LocalOutputDir() string { return r.dir }

// Sync stores what the worker has written and closed. Where the output directory
// is the run's own, or runs are not saved, it does nothing.
func (r *Remote) Sync(ctx context.Context) error {
	if r.mirror == nil {
		return nil
	}
	_, err := r.mirror.Send(ctx)
	return err
}

// Close stores what is left, and removes scratch when all of it is in the store;
// else the error names the directory, which stays. Once it has succeeded, further
// calls change nothing.
func (r *Remote) Close() error {
	if r.end == nil {
		return nil
	}
	err := r.end()
	if err == nil {
		r.end = nil
	}
	return err
}

func (r *Remote) close(ctx context.Context) error {
	if r.mirror != nil {
		report, err := r.mirror.Final(ctx)
		if err == nil && len(report.Skipped) > 0 {
			err = r.unsendable(report.Skipped)
		}
		if err != nil {
			return fmt.Errorf("the output stays in %s: %w", r.dir, err)
		}
		if err := r.mirror.Close(); err != nil {
			return err
		}
	}
	return errors.Join(r.removeScratch(), r.store.Close())
}

// unsendable is ErrInvalid if a regular file has a name that no key can have.
func (r *Remote) unsendable(skipped []SyncFile) error {
	for _, file := range skipped {
		info, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(file.Path)))
		if err == nil && info.Mode().IsRegular() {
			return &Error{Op: "sync", Key: file.Path, Kind: ErrInvalid, Err: errors.New(file.Reason)}
		}
	}
	return nil
}

func (r *Remote) removeScratch() error {
	if r.scratch == "" {
		return nil
	}
	return r.store.wrap("close remote", r.scratch, os.RemoveAll(r.scratch))
}
