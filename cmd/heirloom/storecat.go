package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
)

// catFlags are the range that cat prints.
type catFlags struct{ offset, length int64 }

func newStoreCat(a *app) *cobra.Command {
	var f catFlags
	c := &cobra.Command{
		Use:   "cat PATH...",
		Short: "write objects to stdout, one after the other",
		Example: `  heirloom store cat runs/train-x7f2/metrics.jsonl
  heirloom store cat s3://bucket/big.bin --offset 1048576 --length 64 | xxd`,
		Args:              atLeastOne("PATH"),
		ValidArgsFunction: a.completeSpots,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeCat(c, args, f) },
	}
	c.Flags().Int64Var(&f.offset, "offset", 0, "begin at byte `N` of each object")
	c.Flags().Int64Var(&f.length, "length", -1, "at most `N` bytes of each object; -1 = to its end")
	return c
}

func (a *app) storeCat(c *cobra.Command, args []string, f catFlags) error {
	switch {
	case f.offset < 0:
		return usagef(c.CommandPath(), "--offset is %d, want 0 or more", f.offset)
	case f.length < -1:
		return usagef(c.CommandPath(), "--length is %d, want 0 or more", f.length)
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	for _, text := range args {
		s, err := found.at(c.Context(), text)
		if err != nil {
			return err
		}
		if err := s.copyTo(c.Context(), a.stdout, f); err != nil {
			return err
		}
	}
	return nil
}

// copyTo writes a range of the object to w.
func (s spot) copyTo(ctx context.Context, w io.Writer, f catFlags) error {
	if s.key == "" {
		return s.isDirectory()
	}
	r, err := s.store.OpenRange(ctx, s.key, f.offset, f.length, "")
	if errors.Is(err, store.ErrNotExist) {
		if _, err = s.look(ctx); err == nil {
			err = s.isDirectory()
		}
	}
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

func (s spot) isDirectory() error {
	return &advised{err: invalidf("%s is a directory, not an object", s.url()), advice: "heirloom store ls -r lists the objects in it"}
}
