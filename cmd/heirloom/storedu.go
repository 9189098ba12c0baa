package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

func newStoreDu(a *app) *cobra.Command {
	depth, human := 1, false
	c := &cobra.Command{
		Use:   "du [PATH]",
		Short: "sum up sizes and numbers of objects below PATH",
		Long: `Sum up sizes and numbers of the objects below PATH, or in the store, the largest
first. It takes one request for each 1,000 objects.`,
		Example: `  heirloom store du -H
  heirloom store du runs -d 2
  heirloom store du s3://bucket -d 0 -o json`,
		Args:              atMostOne("PATH"),
		ValidArgsFunction: a.completeSpot,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeDu(c, args, depth, human) },
	}
	c.Flags().IntVarP(&depth, "depth", "d", 1, "`LEVELS` below PATH to tell apart; 0 = the sum alone")
	c.Flags().BoolVarP(&human, "human", "H", false, "sizes as 1.5 GiB")
	return c
}

func (a *app) storeDu(c *cobra.Command, args []string, depth int, human bool) error {
	if depth < 0 {
		return usagef(c.CommandPath(), "--depth is %d, want 0 or more", depth)
	}
	format, found, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	s, err := found.at(c.Context(), orRoot(args))
	if err != nil {
		return err
	}
	parts, whole, err := s.usage(c.Context(), depth)
	if err != nil {
		return err
	}
	return a.printList(render.Usages(parts, whole, a.unfinished(c.Context(), s), human), format)
}

// unfinished counts the uploads below the spot that were begun and not ended, -1 where that cannot be asked.
func (a *app) unfinished(ctx context.Context, s spot) int64 {
	n := int64(0)
	for _, err := range s.store.Unfinished(ctx, store.Key(s.below())) {
		if err != nil {
			a.warn("cannot count unfinished uploads: %v", err)
			return -1
		}
		n++
	}
	if n > 0 {
		a.note("%s not finished; heirloom store rm --unfinished frees the space", count(int(n), "upload"))
	}
	return n
}

// usage sums up the objects below the spot by their first elements, the largest first.
func (s spot) usage(ctx context.Context, depth int) ([]render.Usage, render.Usage, error) {
	whole := render.Usage{Path: s.path(s.key), URL: s.url()}
	sums := map[store.Key]*render.Usage{}
	for e, err := range s.list(ctx, true) {
		if err != nil {
			return nil, whole, err
		}
		whole.Objects++
		whole.Bytes += e.Size
		if depth == 0 {
			continue
		}
		part := upTo(e.Key, s.below(), depth)
		sum := sums[part]
		if sum == nil {
			sum = &render.Usage{Path: s.path(part), URL: s.store.KeyURL(part)}
			sums[part] = sum
		}
		sum.Objects++
		sum.Bytes += e.Size
	}
	parts := make([]render.Usage, 0, len(sums))
	for _, sum := range sums {
		parts = append(parts, *sum)
	}
	slices.SortFunc(parts, func(a, b render.Usage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Path, b.Path))
	})
	return parts, whole, nil
}

// upTo keeps of a key the prefix and at most depth elements behind it.
func upTo(key store.Key, prefix string, depth int) store.Key {
	if len(prefix) > len(key) {
		return key // the object that the path itself is
	}
	end := len(prefix)
	for ; depth > 0 && end < len(key); depth-- {
		next := strings.IndexByte(string(key)[end:], '/')
		if next < 0 {
			return key
		}
		end += next + 1
	}
	return store.Key(strings.TrimSuffix(string(key)[:end], "/"))
}
