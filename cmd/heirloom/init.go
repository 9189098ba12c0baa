package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// initialized is what init prints as JSON.
type initialized struct {
	Store   string `json:"store"`
	Tracker string `json:"tracker"`
	Shared  bool   `json:"shared"`
}

func newInit(a *app) *cobra.Command {
	var shared bool
	c := &cobra.Command{
		Use:   "init [URL]",
		Short: "make a store ready, here or at URL",
		Long: `Make a store ready: at URL, or where the settings point, or else in ./.heirloom.
It may be repeated. Other commands make the store by themselves when they first write.`,
		Example: `  heirloom init
  heirloom init s3://bucket/experiments
  heirloom init --shared /data/team/heirloom`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return takes("URL")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runInit(c, args, shared) },
	}
	c.Flags().BoolVar(&shared, "shared", false, "several people write here: files are made for the group")
	return c
}

func (a *app) runInit(c *cobra.Command, args []string, shared bool) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	usual, err := a.settings(c.Context(), nil)
	if err != nil {
		return err
	}
	chosen := usual
	if len(args) > 0 {
		if args[0] == "" {
			return usagef(c.CommandPath(), "URL is empty")
		}
		if a.flags.store != "" || a.flags.tracker != "" {
			return usagef(c.CommandPath(), "URL and --store or --tracker name two places")
		}
		if chosen, err = a.settings(c.Context(), map[string]string{config.Store: args[0], config.Tracker: ""}); err != nil {
			return err
		}
	}
	p, err := a.openAs(c.Context(), chosen, shared)
	if err != nil {
		return err
	}
	if err := p.tracker.Init(c.Context(), tracker.InitOptions{Shared: shared}); err != nil {
		return err
	}
	if a.wantsJSON() {
		return a.printJSON(initialized{Store: p.store.URL(), Tracker: p.trackerURL(), Shared: shared})
	}
	a.note("ready: %s", store.RedactURL(p.store.URL()))
	if chosen.Get(config.Store).Text != usual.Get(config.Store).Text {
		a.note("to use it from here: echo 'store = %q' > heirloom.toml, or export HEIRLOOM_STORE", store.RedactURL(args[0]))
	}
	return nil
}

// trackerURL is the root of the tracker.
func (p place) trackerURL() string {
	if p.bare != "" {
		return p.bare
	}
	return fmt.Sprint(p.store.Sub(p.store.Layout().Tracker()).URL())
}
