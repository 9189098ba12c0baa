package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// rmFlags are what rm may do.
type rmFlags struct {
	recursive, dryRun, force bool
	unfinished               bool
	olderThan                time.Duration
}

// deleteParallel is how many objects are deleted at once.
const deleteParallel = 16

func newStoreRm(a *app) *cobra.Command {
	var f rmFlags
	c := &cobra.Command{
		Use:   "rm PATH...",
		Short: "delete objects, or with -r all below a directory",
		Long: `Delete objects, or with -r all that lies below a directory. Nothing is asked: --dry-run
prints what would be deleted. The records of the tracker and what else heirloom keeps
for itself, the outputs of all runs, a whole store and a whole bucket are only deleted
with --force, which has no short form.

With --unfinished it frees what uploads left behind that were begun and never ended,
at and below PATH or in the whole store. A younger one may still go on.`,
		Example: `  heirloom store rm models/old.bin
  heirloom store rm -r runs/train-x7f2/scratch --dry-run
  heirloom store rm --unfinished --older-than 24h`,
		Args: func(c *cobra.Command, args []string) error {
			if f.unfinished {
				return nil
			}
			return atLeastOne("PATH")(c, args)
		},
		ValidArgsFunction: a.completeSpots,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeRm(c, args, f) },
	}
	flags := c.Flags()
	flags.BoolVarP(&f.recursive, "recursive", "r", false, "all objects below PATH too")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be deleted, and delete nothing")
	flags.BoolVar(&f.force, "force", false, "also what heirloom itself needs, a whole store or bucket")
	flags.BoolVar(&f.unfinished, "unfinished", false, "uploads that were begun and never ended, not objects")
	f.olderThan = 24 * time.Hour
	ageFlag(flags, &f.olderThan, "older-than", "with --unfinished: those begun longer than `TIME` ago")
	return c
}

// removed is what rm prints as JSON.
type removed struct {
	DryRun  bool            `json:"dry_run"`
	Objects int64           `json:"objects"`
	Bytes   int64           `json:"bytes"`
	Removed []removedObject `json:"removed"`
}

type removedObject struct {
	Path string `json:"path"`
	URL  string `json:"url"`
	Size int64  `json:"size"`
}

// doomed is an object that is to go.
type doomed struct {
	spot
	store.Object
}

func (a *app) storeRm(c *cobra.Command, args []string, f rmFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	if f.unfinished {
		return a.storeAbort(c, args, f)
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	var list []doomed
	for _, text := range args { // all are looked at before the first goes
		objects, err := found.doom(c.Context(), text, f)
		if err != nil {
			return err
		}
		list = append(list, objects...)
	}
	done := removed{DryRun: f.dryRun, Removed: []removedObject{}}
	for _, d := range list {
		done.Removed = append(done.Removed, removedObject{Path: d.path(d.Key), URL: d.store.KeyURL(d.Key), Size: d.Size})
		done.Objects++
		done.Bytes += d.Size
	}
	if !f.dryRun {
		if n, err := deleteAll(c.Context(), list); err != nil {
			return fmt.Errorf("after %d of %s: %w", n, count(len(list), "object"), err)
		}
	}
	return a.tellRemoved(done)
}

func (a *app) tellRemoved(done removed) error {
	if a.wantsJSON() {
		return a.printJSON(done)
	}
	verb := "deleted"
	if done.DryRun {
		verb = "would delete"
		for _, o := range done.Removed {
			fmt.Fprintln(a.stdout, render.Sanitize(o.Path))
		}
	}
	a.note("%s %s, %s", verb, count(len(done.Removed), "object"), render.Size(done.Bytes))
	return nil
}

// doom lists the objects that a path means, in order, if they may be deleted.
func (s *spots) doom(ctx context.Context, text string, f rmFlags) ([]doomed, error) {
	at, err := s.at(ctx, text)
	if err != nil {
		return nil, err
	}
	if err := s.guard(ctx, at, f.force); err != nil {
		return nil, err
	}
	if err := s.guardRuns(at, f.force); err != nil {
		return nil, err
	}
	what, err := at.look(ctx)
	switch {
	case err != nil:
		return nil, err
	case !what.isDir:
		return []doomed{{at, what.Object}}, nil
	case !f.recursive:
		return nil, &advised{err: invalidf("%s is a directory", at.url()), advice: "-r deletes all that lies below it"}
	}
	var list []doomed
	for object, err := range at.store.List(ctx, at.below()) {
		if err != nil {
			return nil, err
		}
		if !f.force && isTrackerRoot(object.Key) {
			return nil, protected(at.store.KeyURL(object.Key))
		}
		list = append(list, doomed{at, object})
	}
	return list, nil
}

// deleteAll deletes several at once and says how many are gone. What someone else deleted meanwhile is gone too.
func deleteAll(ctx context.Context, list []doomed) (int64, error) {
	var gone atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(deleteParallel)
	for _, d := range list {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			err := d.store.Delete(groupCtx, d.Key)
			if err != nil && !errors.Is(err, store.ErrNotExist) {
				return err
			}
			gone.Add(1)
			return nil
		})
	}
	err := group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return gone.Load(), err
}
