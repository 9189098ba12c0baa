package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// aborted is what rm --unfinished prints as JSON.
type aborted struct {
	DryRun     bool         `json:"dry_run"`
	Unfinished []unfinished `json:"unfinished"`
}

type unfinished struct {
	Path  string    `json:"path"`
	URL   string    `json:"url"`
	Begun time.Time `json:"begun"`
}

// storeAbort frees what uploads left behind that were begun before olderThan ago.
func (a *app) storeAbort(c *cobra.Command, args []string, f rmFlags) error {
	if len(args) == 0 {
		args = []string{"."}
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	done := aborted{DryRun: f.dryRun, Unfinished: []unfinished{}}
	for _, text := range args {
		s, err := found.at(c.Context(), text)
		if err != nil {
			return err
		}
		list, err := s.abort(c.Context(), f)
		done.Unfinished = append(done.Unfinished, list...)
		if err != nil {
			return err
		}
	}
	if a.wantsJSON() {
		return a.printJSON(done)
	}
	verb := "freed"
	if f.dryRun {
		verb = "would free"
		for _, u := range done.Unfinished {
			fmt.Fprintln(a.stdout, render.Sanitize(u.Path))
		}
	}
	a.note("%s %s begun more than %s ago", verb, count(len(done.Unfinished), "unfinished upload"), short(f.olderThan))
	return nil
}

// abort gives up the old uploads at and below the spot.
func (s spot) abort(ctx context.Context, f rmFlags) ([]unfinished, error) {
	var list []unfinished
	for u, err := range s.store.Unfinished(ctx, s.key) {
		if err != nil {
			return list, err
		}
		if !s.covers(u.Key) || time.Since(u.Begun) < f.olderThan {
			continue
		}
		if !f.dryRun {
			if err := s.store.Abort(ctx, u); err != nil {
				return list, err
			}
		}
		list = append(list, unfinished{Path: s.path(u.Key), URL: s.store.KeyURL(u.Key), Begun: u.Begun.UTC()})
	}
	return list, nil
}

// covers says whether a key is the spot or lies below it.
func (s spot) covers(key store.Key) bool {
	return s.key == "" || key == s.key || len(key) > len(s.below()) && string(key[:len(s.below())]) == s.below()
}

// short writes a duration without the zeros at its end: 24h, not 24h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
