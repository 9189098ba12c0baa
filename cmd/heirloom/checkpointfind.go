package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker"
)

// saved is a checkpoint with where it was found.
type saved struct {
	*checkpoint.Checkpoint
	run   tracker.RunID // "" if it belongs to none
	store *store.Store
	path  string // in the output directory of its run, else as it may be given to another command
}

// name is how a user names it.
func (s saved) name() string {
	if s.run != "" {
		return s.run.Name() + "#" + s.path
	}
	return s.path
}

// rendered is a line of a list of checkpoints.
func (s saved) rendered(pinned bool) render.Checkpoint {
	return render.Checkpoint{
		Run: string(s.run), Short: s.run.Name(), Path: s.path, URL: store.RedactURL(s.store.KeyURL(s.Path)),
		Pinned: pinned, Checkpoint: s.Checkpoint,
	}
}

// bytesURL is the beginning of what names bytes and never a run, though both have schemes.
var bytesURL = pattern.Lazy(`^(?i:s3|s3a|s3n|gs|hdfs|dbfs|file|mem):/`)

// checkpoints finds those of a run, or those at a path; "" is all runs. What names neither is store.ErrNotExist.
func (a *app) checkpoints(ctx context.Context, found *spots, text string) ([]saved, error) {
	if text == "" {
		return a.allCheckpoints(ctx, found.place)
	}
	if bytesURL().MatchString(text) || filepath.IsAbs(text) {
		return found.checkpointsAt(ctx, text)
	}
	run, err := found.visibleRun(ctx, text)
	if err == nil {
		return found.runCheckpoints(ctx, run)
	}
	if errors.Is(err, store.ErrNotExist) {
		list, spotErr := found.checkpointsAt(ctx, text)
		if spotErr == nil || strings.HasPrefix(text, ".") { // which is no name of a run
			return list, spotErr
		}
	}
	return nil, err
}

// checkpointsAt finds those at or below a path or URL.
func (s *spots) checkpointsAt(ctx context.Context, text string) ([]saved, error) {
	at, err := s.at(ctx, text)
	if err != nil {
		return nil, err
	}
	if _, err := at.look(ctx); err != nil {
		return nil, err
	}
	list, err := checkpoint.Find(ctx, at.store, at.key, &checkpoint.Options{Anywhere: true, Filename: s.filename()})
	if err != nil {
		return nil, err
	}
	found := make([]saved, len(list))
	for i, c := range list {
		found[i] = saved{Checkpoint: c, store: at.store, path: at.path(c.Path)}
	}
	return found, nil
}

func (p place) filename() string { return p.store.Layout().CheckpointFilename() }

// runCheckpoints finds those of one run.
func (p place) runCheckpoints(ctx context.Context, run tracker.RunID) ([]saved, error) {
	var found []saved
	for _, dir := range p.store.Layout().RunDirs(string(run)) {
		list, err := checkpoint.Find(ctx, p.store, dir, &checkpoint.Options{Filename: p.filename()})
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			found = append(found, p.savedIn(run, dir, c))
		}
	}
	return found, nil
}

func (p place) savedIn(run tracker.RunID, dir store.Key, c *checkpoint.Checkpoint) saved {
	path := "."
	if c.Path != dir {
		path = strings.TrimPrefix(string(c.Path), string(dir)+"/")
	}
	return saved{Checkpoint: c, run: run, store: p.store, path: path}
}

// allCheckpoints finds those of every run in one listing, sorted by run, and those of directories of which there is no
// record.
func (a *app) allCheckpoints(ctx context.Context, p place) ([]saved, error) {
	dirs := map[store.Key]tracker.RunID{}
	for run, err := range p.tracker.RunIDs(ctx, "") {
		if err != nil {
			return nil, err
		}
		for _, dir := range p.store.Layout().RunDirs(string(run)) {
			dirs[dir] = run
		}
	}
	list, err := checkpoint.Find(ctx, p.store, p.store.Layout().Runs(), &checkpoint.Options{Filename: p.filename()})
	if err != nil {
		return nil, err
	}
	var found []saved
	for _, c := range list {
		found = append(found, p.owned(dirs, c))
	}
	slices.SortStableFunc(found, func(x, y saved) int { return cmp.Compare(x.run, y.run) })
	return found, nil
}

// owned finds the run whose output directory holds c.
func (p place) owned(dirs map[store.Key]tracker.RunID, c *checkpoint.Checkpoint) saved {
	for dir := c.Path; dir != ""; dir = dir.Dir() {
		if run, ok := dirs[dir]; ok {
			return p.savedIn(run, dir, c)
		}
	}
	return saved{Checkpoint: c, store: p.store, path: string(c.Path)}
}

// deleted tells of the keys of checkpoints that were pruned, and of all below them.
func (p place) deleted(ctx context.Context) (func(store.Key) bool, error) {
	paths, err := p.notes().Deleted(ctx)
	return func(key store.Key) bool {
		for ; key != "" && !paths[key]; key = key.Dir() {
		}
		return key != ""
	}, err
}

// notes are what the store keeps about its checkpoints.
func (p place) notes() *checkpoint.Notes {
	return checkpoint.NotesIn(p.store, p.store.Layout().Heirloom().Join("checkpoints"))
}
