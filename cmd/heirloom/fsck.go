package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const fsckHelp = `Check every record of the tracker, TorchX's own included, and look for the bytes
of its artifacts. Nothing is changed without --repair, which adds what is
missing and moves aside what TorchX would fail at; it removes nothing but empty
directories, may be repeated, and may run beside those who write: what is younger
than --grace is left to them.

What is moved aside lies in the directory heirloom/aside of its run, or, from
outside of the runs, in heirloom/aside of the store.

Exit codes: 0 nothing is wrong, or all of it was repaired; 6 something is.`

const fsckExample = `  heirloom fsck
  heirloom fsck --repair
  heirloom fsck --tracker s3://bucket/torchx        a root that TorchX wrote
  heirloom fsck --read-data --secrets -o json`

// fsckFlags are those of the command.
type fsckFlags struct {
	opts   tracker.FsckOptions
	noData bool
	grace  time.Duration
}

func newFsck(a *app) *cobra.Command {
	var f fsckFlags
	c := &cobra.Command{
		Use:     "fsck",
		Short:   "check the records, and repair them",
		Long:    fsckHelp,
		Example: fsckExample,
		Args:    takes(""),
		RunE:    func(c *cobra.Command, _ []string) error { return a.runFsck(c, f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.opts.Repair, "repair", false, "add what is missing, move aside what is broken")
	flags.BoolVar(&f.opts.ReadData, "read-data", false, "read all artifacts that have a checksum")
	flags.BoolVar(&f.noData, "no-data", false, "do not look for the artifacts at all")
	flags.BoolVar(&f.opts.Secrets, "secrets", false, "look for secrets in what was recorded")
	flags.BoolVar(&f.opts.TorchX, "torchx", false, "tell also of what TorchX reads otherwise, and complete its mirror")
	f.grace = 10 * time.Minute
	ageFlag(flags, &f.grace, "grace", "leave to its writer what is younger than `TIME`")
	return c
}

func (a *app) runFsck(c *cobra.Command, f fsckFlags) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if f.noData && f.opts.ReadData {
		return usagef(c.CommandPath(), "--no-data and --read-data contradict each other")
	}
	settings, err := a.settings(c.Context(), nil)
	if err != nil {
		return err
	}
	p, err := a.open(c.Context(), settings)
	if err != nil {
		return err
	}
	opts := f.options(a, p, settings)
	if opts.Deleted, err = p.deleted(c.Context()); err != nil {
		return err
	}
	report, err := p.quiet(a).Fsck(c.Context(), opts)
	if err != nil {
		return err
	}
	if err := a.printList(render.Fsck(report), format); err != nil {
		return err
	}
	return a.judge(report, f.opts.Repair)
}

// quiet is the tracker without warnings: what it passes over is a finding.
func (p place) quiet(a *app) *tracker.FileTracker {
	return tracker.NewFileTracker(p.tracker.Store(), &tracker.Options{Writer: "heirloom " + readVersion().Version, Warn: func(tracker.Warning) {}})
}

func (f fsckFlags) options(a *app, p place, settings *config.Config) *tracker.FsckOptions {
	opts := f.opts
	opts.Grace = f.grace
	if f.grace == 0 {
		opts.Grace = -1
	}
	opts.Aside = p.store.Sub(p.store.Layout().Heirloom())
	if p.bare != "" {
		opts.Aside = p.store // which is made for what does not fit beside TorchX's records
	}
	if !f.noData {
		opts.Data = p.store
		opts.Stat = func(ctx context.Context, place string) (store.Object, error) {
			return a.statPlace(ctx, place, settings)
		}
	}
	return &opts
}

// judge sums up a check.
func (a *app) judge(r *tracker.FsckReport, repaired bool) error {
	looked := fmt.Sprintf("looked at %s, %s", count(r.Runs, "run"), count(r.Objects, "record"))
	if r.Artifacts > 0 {
		looked += ", " + count(r.Artifacts, "artifact")
	}
	if r.Unchecked > 0 {
		looked += fmt.Sprintf(" (%d of them lie where nobody can look)", r.Unchecked)
	}
	broken := r.Broken()
	switch {
	case broken == 0 && len(r.Findings) == 0:
		a.note("%s: nothing is wrong", looked)
		return nil
	case broken == 0:
		a.note("%s: %s, all repaired", looked, count(len(r.Findings), "finding"))
		return nil
	}
	a.note("%s", looked)
	err := &store.Error{Op: "check tracker", Kind: store.ErrCorrupt, Err: errors.New(count(broken, "finding") + left(broken, len(r.Findings)))}
	advice := ""
	for _, f := range r.Findings {
		if f.Remedy != "" && !repaired {
			advice = "--repair mends what can be mended"
		}
	}
	return &advised{err: err, advice: advice}
}

func left(broken, all int) string {
	if broken == all {
		return ""
	}
	return fmt.Sprintf(" of %d left", all)
}

// statPlace looks for an artifact that lies outside of the store. ErrUnsupported is a path that cannot be looked for
// from here.
func (a *app) statPlace(ctx context.Context, place string, settings *config.Config) (store.Object, error) {
	local, isURL := strings.CutPrefix(place, "file://")
	if filepath.IsAbs(local) {
		info, err := os.Stat(local)
		if err != nil || info.IsDir() {
			return store.Object{}, err
		}
		return store.Object{Key: store.Key(info.Name()), Size: info.Size()}, nil
	}
	u, err := url.Parse(place)
	if isURL || err != nil || u.Host == "" || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
		return store.Object{}, store.ErrUnsupported
	}
	at := strings.TrimSuffix(place, "/")
	cut := strings.LastIndexByte(at, '/')
	s, err := a.openStore(ctx, at[:cut], settings, false)
	if err != nil {
		return store.Object{}, store.ErrUnsupported
	}
	key := store.Key(at[cut+1:])
	obj, err := s.Stat(ctx, key)
	if !errors.Is(err, store.ErrNotExist) {
		return obj, err
	}
	for _, listErr := range s.List(ctx, string(key)+"/") {
		return store.Object{}, listErr
	}
	return store.Object{}, err
}
