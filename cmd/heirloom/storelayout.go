package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// layoutFlags are what layout is asked for.
type layoutFlags struct {
	local bool
	index int
}

func newStoreLayout(a *app) *cobra.Command {
	var f layoutFlags
	c := &cobra.Command{
		Use:   "layout [RUN]",
		Short: "say where everything lies in the store",
		Long: `Say where everything lies in the store, as full URLs, and for RUN where its files do;
RUN need not exist. The names are those of Horovod's Store, and as JSON it is the view
that Horovod hands to its workers. What the settings override is marked.`,
		Example: `  heirloom store layout
  heirloom store layout train-x7f2 -o json
  heirloom store layout train-x7f2 --local --index 0`,
		Args:              atMostOne("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeLayout(c, args, f) },
	}
	c.Flags().BoolVar(&f.local, "local", false, "paths as the file system's own client takes them, without scheme and host")
	c.Flags().IntVar(&f.index, "index", -1, "`N` of the datasets, Horovod's dataset_idx; -1 = without one")
	return c
}

// layoutView is what layout prints as JSON: Horovod's attributes, and ours.
type layoutView struct {
	Store   string  `json:"store"`
	Tracker string  `json:"tracker"`
	Own     string  `json:"heirloom"`
	Run     *string `json:"run"`
	store.RemoteView
	RunPath         *string          `json:"run_path"` // in place of the view's: there may be no run
	CheckpointsPath *string          `json:"checkpoints_path"`
	Overrides       []layoutOverride `json:"overrides"`
}

// layoutOverride is a setting that moves something from its usual place.
type layoutOverride struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Place  string `json:"place"`
}

func (a *app) storeLayout(c *cobra.Command, args []string, f layoutFlags) error {
	format, found, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	run, err := found.laidOut(c.Context(), args)
	if err != nil {
		return err
	}
	v := found.layoutView(run, f)
	if format == render.JSON || format == render.JSONL {
		return render.Document(a.stdout, v, format)
	}
	return a.printList(v.list(), format)
}

// laidOut is the id of the run that was asked about, "" if none was. One that does not exist yet is taken as it is.
func (s *spots) laidOut(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	id, err := s.findRun(ctx, args[0])
	if errors.Is(err, store.ErrNotExist) && args[0] != "" {
		s.app.note("there is no run %s yet", args[0])
		return args[0], nil
	}
	return string(id), err
}

func (s *spots) layoutView(run string, f layoutFlags) layoutView {
	layout := s.store.Layout()
	form := func(url string) string {
		if f.local {
			return store.Localize(url)
		}
		return url
	}
	tracker := strings.TrimSuffix(s.tracker.Store().KeyURL(""), "/")
	v := layoutView{
		Store: form(strings.TrimSuffix(s.store.KeyURL(""), "/")), Tracker: form(tracker), Own: form(s.store.KeyURL(layout.Heirloom())),
		RemoteView: layout.Remote(run, f.index), Overrides: s.overrides(),
	}
	if f.local {
		v.RemoteView = v.Localize()
	}
	if run == "" {
		v.CheckpointPath, v.LogsPath = nil, nil
		return v
	}
	v.Run, v.RunPath = &run, &v.RemoteView.RunPath
	if layout.SavesRuns() {
		checkpoints := form(s.store.KeyURL(layout.CheckpointDir(run)))
		v.CheckpointsPath = &checkpoints
	}
	return v
}

// overrides lists the settings of the layout that are not as usual.
func (s *spots) overrides() []layoutOverride {
	list := []layoutOverride{}
	for _, v := range s.config.Values() {
		if strings.HasPrefix(v.Key, "layout.") && v.Text != "" && v.Origin.Level != config.LevelDefault {
			list = append(list, layoutOverride{v.Key, store.RedactURL(v.Text), v.Origin.Level.String(), v.Origin.Place})
		}
	}
	return list
}

// list is the view as names and paths for people, with what overrides each.
func (v layoutView) list() render.List {
	by := map[string]string{}
	for _, o := range v.Overrides {
		by[o.Key] = o.Place
	}
	l := render.List{Key: "paths", Columns: []render.Column{{Name: "name"}, {Name: "path"}, {Name: "set_by"}}}
	for _, row := range []struct {
		name string
		path *string
		key  string
	}{
		{"store", &v.Store, ""},
		{"tracker", &v.Tracker, ""},
		{"heirloom", &v.Own, ""},
		{"train_data_path", &v.TrainDataPath, config.TrainPath},
		{"val_data_path", &v.ValDataPath, config.ValPath},
		{"test_data_path", &v.TestDataPath, config.TestPath},
		{"runs_path", &v.RunsPath, config.RunsPath},
		{"run_path", v.RunPath, config.RunsPath},
		{"checkpoint_path", v.CheckpointPath, config.CheckpointFile},
		{"checkpoints_path", v.CheckpointsPath, config.RunsPath},
		{"logs_path", v.LogsPath, config.RunsPath},
		{"checkpoint_filename", &v.CheckpointFilename, config.CheckpointFile},
	} {
		if row.path != nil {
			l.Rows = append(l.Rows, []any{row.name, *row.path, orNil(by[row.key])})
		}
	}
	saves := "true"
	if !v.SavingRuns {
		saves = "false"
	}
	l.Rows = append(l.Rows, []any{"saving_runs", saves, orNil(by[config.SaveRuns])})
	return l
}

// orNil is nil for no text.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
