package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/progress"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// syncFlags are what sync may do.
type syncFlags struct {
	watch, remove, force bool
	every, stable        time.Duration
	replica              string
	parallel             int
}

func newStoreSync(a *app) *cobra.Command {
	var f syncFlags
	c := &cobra.Command{
		Use:   "sync DIR DEST",
		Short: "mirror a local directory into a store, once or while it is written",
		Long: `Mirror a local directory into a store: what is new or has changed is sent, by its
content. What was sent is noted, so that nothing is sent twice.

Without --watch all that is there is sent. With it the directory is looked at again and
again, while others write it: a file is sent when it is whole, never in the middle of
a write, and a checkpoint's marker after what it marks. SIGTERM or Ctrl-C then sends
the rest, within --grace, and ends.

Links and special files are left out. Objects whose file is gone stay, unless --delete
is given; it never deletes what was not mirrored from here.`,
		Example: `  heirloom store sync out runs/train-x7f2/out
  heirloom store sync out s3://bucket/live --watch --every 10s`,
		Args:              takes("DIR DEST"),
		ValidArgsFunction: a.completePut,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeSync(c, args, f) },
	}
	flags := c.Flags()
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on until interrupted")
	f.every, f.stable = 30*time.Second, 5*time.Second
	ageFlag(flags, &f.every, "every", "with --watch: `TIME` from one look to the next")
	ageFlag(flags, &f.stable, "stable", "with --watch: a file that nothing else tells whole stands still for `TIME` first")
	flags.BoolVar(&f.remove, "delete", false, "delete objects that were mirrored and whose file is gone")
	flags.StringVar(&f.replica, "replica", "", "`NAME` of this writer, where several mirror to one DEST")
	flags.IntVar(&f.parallel, "parallel", 0, "`N` files at once; 0 = 8")
	flags.BoolVar(&f.force, "force", false, "also over what heirloom itself needs")
	flags.String("grace", "", "with --watch: `TIME` for the rest after a signal (HEIRLOOM_GRACE)")
	return c
}

// synced is what sync prints as JSON.
type synced struct {
	Uploaded  int          `json:"uploaded"`
	Unchanged int          `json:"unchanged"`
	Deleted   int          `json:"deleted"`
	Bytes     int64        `json:"bytes"`
	Waiting   []syncedFile `json:"waiting"`
	Skipped   []syncedFile `json:"skipped"`
}

type syncedFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

func newSynced(r store.SyncReport) synced {
	files := func(list []store.SyncFile) []syncedFile {
		out := make([]syncedFile, len(list))
		for i, f := range list {
			out[i] = syncedFile{f.Path, f.Reason}
		}
		return out
	}
	return synced{r.Uploaded, r.Unchanged, r.Deleted, r.Bytes, files(r.Waiting), files(r.Skipped)}
}

func (a *app) storeSync(c *cobra.Command, args []string, f syncFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	for _, name := range []string{"every", "stable", "grace"} {
		if c.Flags().Changed(name) && !f.watch {
			return &advised{
				err:    &usageError{text: fmt.Sprintf("--%s changes nothing without --watch: the directory is mirrored once", name)},
				advice: fmt.Sprintf("add --watch, or leave --%s out", name),
			}
		}
	}
	if f.every <= 0 || f.stable < 0 || f.parallel < 0 {
		return usagef(c.CommandPath(), "--every is more than 0, --stable and --parallel are not less")
	}
	settings, err := a.settings(c.Context(), map[string]string{config.Grace: c.Flag("grace").Value.String()})
	if err != nil {
		return err
	}
	display, err := a.newDisplay()
	if err != nil {
		return err
	}
	y, err := a.newSync(c.Context(), args, f, display.Update)
	if err != nil {
		return err
	}
	defer y.Close()
	total := store.SyncReport{}
	ctx := c.Context()
	if f.watch {
		total = a.watchDir(ctx, y, f.every, display)
		grace, _ := time.ParseDuration(settings.Get(config.Grace).Text) // checked when it was read
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		ctx = end
		a.note("sending the rest; once more to stop at once")
	}
	last, err := y.Final(ctx)
	display.Close()
	last.Uploaded, last.Deleted, last.Bytes = last.Uploaded+total.Uploaded, last.Deleted+total.Deleted, last.Bytes+total.Bytes
	if err == nil {
		err = y.Close()
	}
	if err != nil {
		return err
	}
	return a.tellSynced(last)
}

// newSync checks DIR and DEST and keeps the notes with the user's own.
func (a *app) newSync(ctx context.Context, args []string, f syncFlags, update func(store.Progress)) (*store.Sync, error) {
	found, err := a.spots(ctx)
	if err != nil {
		return nil, err
	}
	to, err := found.at(ctx, args[1])
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(args[0]); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &advised{err: invalidf("%s is no directory", args[0]), advice: "a file is copied by heirloom store put"}
	}
	p := parcel{path: args[0], to: to, isDir: true}
	if err := found.guard(ctx, p.to, f.force); err != nil {
		return nil, err
	}
	if err := p.fits(ctx); err != nil {
		return nil, err
	}
	return p.to.store.NewSync(args[0], p.to.key, &store.SyncOptions{
		Every: f.every, Stable: f.stable, Delete: f.remove, Replica: f.replica, Parallel: f.parallel, StateDir: a.syncNotes(args[0]),
		Progress: update,
	})
}

// syncNotes is where a mirror of dir notes what it sent, "" for within dir.
func (a *app) syncNotes(dir string) string {
	full, err := filepath.Abs(dir)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if a.journalDir() == "" || err != nil {
		return ""
	}
	notes := filepath.Join(filepath.Dir(a.journalDir()), "sync", string(store.DigestOf([]byte(full)))[:16])
	if os.MkdirAll(notes, 0o700) != nil {
		return ""
	}
	return notes
}

// watchDir looks again and again until ctx ends, and says what it did.
func (a *app) watchDir(ctx context.Context, y *store.Sync, every time.Duration, display *progress.Display) store.SyncReport {
	var total store.SyncReport
	for {
		report, err := y.Pass(ctx)
		display.Clear()
		total.Uploaded, total.Deleted, total.Bytes = total.Uploaded+report.Uploaded, total.Deleted+report.Deleted, total.Bytes+report.Bytes
		switch {
		case ctx.Err() != nil:
			return total
		case err != nil:
			a.note("%s heirloom: cannot send all, trying again: %s", now(), oneLine(store.Redact(err.Error())))
		case report.Uploaded+report.Deleted > 0:
			a.note("%s %s", now(), syncWords(report))
		}
		select {
		case <-ctx.Done():
			return total
		case <-time.After(every):
		}
	}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// syncWords reads "sent 3 files, 1.2 MiB; deleted 1 object; 2 files wait".
func syncWords(r store.SyncReport) string {
	text := "sent " + count(r.Uploaded, "file") + ", " + render.Size(r.Bytes).String()
	if r.Deleted > 0 {
		text += "; deleted " + count(r.Deleted, "object")
	}
	if n := len(r.Waiting); n > 0 {
		text += "; waiting: " + count(n, "file")
	}
	return text
}

func (a *app) tellSynced(r store.SyncReport) error {
	var left []string
	for _, f := range r.Skipped {
		left = append(left, f.Path)
	}
	if len(left) > 0 {
		a.warn("left out: %s", some(left))
	}
	if a.wantsJSON() {
		return a.printJSON(newSynced(r))
	}
	a.note("%s; unchanged: %s", syncWords(r), count(r.Unchanged, "file"))
	return nil
}
