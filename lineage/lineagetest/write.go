package lineagetest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Write adds runs from to to-1 to the root below a directory that holds those before from, and the mirror of their
// links. Nothing is synced. Files bear the times that they would have.
func (r *Root) Write(ctx context.Context, dir string, from, to int) error {
	if err := writeFile(dir, r.Format()); err != nil {
		return err
	}
	var next atomic.Int64
	next.Store(int64(from))
	group, ctx := errgroup.WithContext(ctx)
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := r.write(dir, i, from, to); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// write adds one run, and its mirror in the directories of those that were there.
func (r *Root) write(dir string, i, from, to int) error {
	list, err := r.Objects(i, to)
	if err != nil {
		return err
	}
	last := -1
	for _, u := range r.uses(i) {
		if u.run >= 0 && u.run < from && u.run != last {
			list = append(list, r.mirrored(u.run, i))
			last = u.run
		}
	}
	for _, o := range list {
		if err := writeFile(dir, o); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(dir string, o Object) error {
	path := filepath.Join(dir, filepath.FromSlash(o.Key))
	err := os.WriteFile(path, o.Body, 0o644)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, o.Body, 0o644)
		}
	}
	if err == nil {
		err = os.Chtimes(path, o.Modified, o.Modified)
	}
	return err
}
