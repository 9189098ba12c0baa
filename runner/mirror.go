package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
)

const (
	syncEvery = 30 * time.Second
	// syncAtLeast is what storing the outputs gets of a job that was told to end
	// and took all of the grace time for itself.
	syncAtLeast = 5 * time.Second
	// reservedDir is where the store notes, below the directory of a run, what was
	// mirrored into it.
	reservedDir = ".heirloom"
)

// mirror stores outputs that are written to scratch. Nil is none; its methods do
// nothing then.
type mirror struct {
	run  *run
	sync *store.Sync
}

// openMirror prepares one, where outputs are neither in place nor forgotten.
func (r *run) openMirror(ctx context.Context) error {
	if r.place.inPlace || !r.Store.Layout().SavesRuns() {
		return nil
	}
	if err := r.sign(); err != nil {
		return err
	}
	r.pickUp(ctx)
	y, err := r.Store.NewSync(r.place.dir, r.place.key, &store.SyncOptions{
		StateDir: filepath.Join(r.place.scratch, "sync"),
		Every:    r.job.SyncEvery,
		Fresh:    r.attempt == 1 && r.job.Launch == nil,
		Replica:  r.replicaName(),
	})
	if err == nil {
		r.mirror = &mirror{run: r, sync: y}
	}
	return err
}

// follow stores what is whole until ctx ends. What fails then is not said: it is
// tried again, and at the end it counts.
func (m *mirror) follow(ctx context.Context, every time.Duration) {
	if m == nil || every < 0 {
		return
	}
	if every == 0 {
		every = syncEvery
	}
	select { // a short job is stored at its end
	case <-ctx.Done():
	case <-time.After(every):
		_ = m.sync.Run(ctx)
	}
}

// finish stores all there is. A job that was told to end leaves it what remains
// of the grace time: whoever told it means us too.
func (m *mirror) finish(ctx context.Context, exit process.Exit) error {
	if m == nil {
		return nil
	}
	if _, err := os.Stat(m.run.place.dir); err != nil {
		return nil // the job removed it; that was said
	}
	if exit.Stop == "SIGTERM" || exit.Stop == "cancel" {
		end := exit.Stopped.Add(m.run.grace())
		if least := time.Now().Add(syncAtLeast); end.Before(least) {
			end = least
		}
		limited, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		ctx = limited
	}
	report, err := m.sync.Final(ctx)
	for _, file := range report.Skipped {
		m.warnOf(file)
	}
	if n := len(report.Waiting); err != nil && n > 0 {
		m.run.warnf("%d of %d files were not stored, the first is %s", n, n+report.Uploaded+report.Unchanged, report.Waiting[0].Path)
	}
	return err
}

// warnOf tells of a file that the store cannot have; of links and special files
// that was told.
func (m *mirror) warnOf(file store.SyncFile) {
	if err := m.run.unstorable(file); err != nil {
		m.run.place.keep = true
		m.run.warnf("%v: it was not stored and is still in %s", err, m.run.place.dir)
	}
}

// unstorable says why no key can have the name of a file, nil where that is not
// why it was skipped.
func (r *run) unstorable(file store.SyncFile) error {
	_, err := store.ParseKey(string(r.place.key) + "/" + file.Path)
	if err == nil && file.Path == reservedDir {
		err = errors.New(file.Path + ": the name is reserved")
	}
	return err
}

func (m *mirror) close() {
	if m != nil {
		_ = m.sync.Close() // its notes go with scratch, or are found out anew
	}
}

func (r *run) grace() time.Duration {
	if r.job.Grace > 0 {
		return r.job.Grace
	}
	return process.DefaultGrace
}
