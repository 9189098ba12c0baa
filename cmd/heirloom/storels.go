package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// lsFlags are what ls is asked for.
type lsFlags struct {
	recursive, long, human bool
}

func newStoreLs(a *app) *cobra.Command {
	var f lsFlags
	c := &cobra.Command{
		Use:   "ls [PATH]",
		Short: "list what lies at PATH, or in the store",
		Long: `List the objects and directories right below PATH, or with -r all objects below it.
What is printed can be given to the other commands: keys of the store, or URLs if
PATH is one. Directories end in a slash.`,
		Example: `  heirloom store ls
  heirloom store ls -rlH runs/train-x7f2
  heirloom store ls s3://bucket/models -o json`,
		Args:              atMostOne("PATH"),
		ValidArgsFunction: a.completeSpot,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeLs(c, args, f) },
	}
	flags := c.Flags()
	flags.BoolVarP(&f.recursive, "recursive", "r", false, "all objects below PATH")
	flags.BoolVarP(&f.long, "long", "l", false, "with size in bytes and time")
	flags.BoolVarP(&f.human, "human", "H", false, "with sizes as 1.5 GiB; includes -l")
	return c
}

// atMostOne wants one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return takes(name)(c, args)
	}
}

// orRoot is the only argument, or the root of the store.
func orRoot(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

func (a *app) storeLs(c *cobra.Command, args []string, f lsFlags) error {
	format, found, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	s, err := found.at(c.Context(), orRoot(args))
	if err != nil {
		return err
	}
	if format == render.Table && !f.long && !f.human && a.flags.format == "" {
		return a.printNames(c.Context(), s, f.recursive)
	}
	var list []render.Entry
	for e, err := range s.list(c.Context(), f.recursive) {
		if err != nil {
			return err
		}
		list = append(list, render.Entry{Path: s.path(e.Key), URL: s.store.KeyURL(e.Key), Entry: e})
	}
	if len(list) == 0 {
		a.note("nothing in %s", s.url())
	}
	return a.printList(render.Entries(list, f.human), format)
}

// printNames prints one path a line as they come.
func (a *app) printNames(ctx context.Context, s spot, recursive bool) error {
	out := bufio.NewWriter(a.stdout)
	n := 0
	for e, err := range s.list(ctx, recursive) {
		if err != nil {
			_ = out.Flush() // what was found; the error matters more
			return err
		}
		n++
		end := ""
		if e.IsDir {
			end = "/"
		}
		fmt.Fprintln(out, render.Sanitize(strings.TrimSuffix(s.path(e.Key), "/")+end))
	}
	if n == 0 {
		a.note("nothing in %s", s.url())
	}
	return out.Flush()
}

// list yields what lies right below the spot, or all objects below it, or the object that it is. Nothing at all is
// store.ErrNotExist, but for the root of a store. An error is the last thing yielded.
func (s spot) list(ctx context.Context, recursive bool) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		n := 0
		for e, err := range s.entries(ctx, recursive) {
			n++
			if !yield(e, err) || err != nil {
				return
			}
		}
		if n > 0 || s.key == "" {
			return
		}
		object, err := s.look(ctx)
		yield(store.Entry{Object: object.Object}, err)
	}
}

func (s spot) entries(ctx context.Context, recursive bool) iter.Seq2[store.Entry, error] {
	if !recursive {
		return s.store.ListDir(ctx, s.key)
	}
	return func(yield func(store.Entry, error) bool) {
		for object, err := range s.store.List(ctx, s.below()) {
			if !yield(store.Entry{Object: object}, err) {
				return
			}
		}
	}
}
