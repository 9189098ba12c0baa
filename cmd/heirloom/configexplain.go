package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

func newConfig(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "look at the settings in force",
		Long: `Settings come from the first of these that has them: flag, HEIRLOOM_* variable,
TORCHX_* variable of the same meaning, heirloom.toml (or a file .heirloom) found
upward from here, the user's file (~/.config/heirloom/config.toml), the default.
The nearest of them that names a store or a tracker decides where both are.`,
		Example: "  heirloom config explain",
	}, newConfigExplain(a))
}

func newConfigExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "explain",
		Short:   "print each setting and where it came from",
		Example: "  heirloom config explain\n  heirloom config explain --store s3://bucket/p -o json",
		Args:    takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			format, err := a.format(render.ListFormats)
			if err != nil {
				return err
			}
			settings, err := a.settings(c.Context(), nil)
			if err != nil {
				return err
			}
			list := render.List{Key: "values", Columns: []render.Column{{Name: "key"}, {Name: "value"}, {Name: "origin"}, {Name: "place"}}}
			for _, v := range settings.Values() {
				row := []any{v.Key, nil, v.Origin.Level.String(), nil}
				if v.Text != "" {
					row[1] = store.Redact(store.RedactURL(v.Text))
				}
				if v.Origin.Place != "" {
					row[3] = v.Origin.Place
				}
				list.Rows = append(list.Rows, row)
			}
			return a.printList(list, format)
		},
	}
}
