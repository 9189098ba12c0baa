package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// getenv is the last value of a variable in the process's environment, "" if unset.
func (a *app) getenv(name string) string {
	value := ""
	for _, entry := range a.environ {
		if n, v, ok := strings.Cut(entry, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// settings resolves the configuration once. Flags of the command itself join through extra (key → text).
func (a *app) settings(ctx context.Context, extra map[string]string) (*config.Config, error) {
	dir, err := a.workdir()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	flags := map[string]string{config.Store: a.flags.store, config.Tracker: a.flags.tracker}
	for key, text := range extra {
		flags[key] = text
	}
	return config.Load(config.Input{Flags: flags, Environ: a.environ, Dir: dir, TrackerRoot: func(file string) (string, error) { return a.trackerRoot(ctx, file) }})
}

// trackerRoot is the root that a configuration file of TorchX's fsspec tracker means.
func (a *app) trackerRoot(ctx context.Context, file string) (string, error) {
	root, err := tracker.ReadFsspec(ctx, file, a.environ)
	if err != nil {
		return "", err
	}
	a.fsspec, a.fsspecFile = root, file
	return root.URL, nil
}

// place is where a command works: the store, and the tracker in it or beside it.
type place struct {
	store   *store.Store
	tracker *tracker.FileTracker
	bare    string // the URL of a bare tracker root; "" = the tracker is the store's own
}

// open opens the store and the tracker that the settings name. Nothing is contacted yet.
func (a *app) open(ctx context.Context, c *config.Config) (place, error) {
	return a.openAs(ctx, c, false)
}

// openAs is open where a directory that has yet to be made may be for a group.
func (a *app) openAs(ctx context.Context, c *config.Config, shared bool) (place, error) {
	root := c.Get(config.Tracker).Text
	url := c.Get(config.Store).Text
	if url == "" {
		url = beside(root)
	}
	s, err := a.openStore(ctx, url, c, shared)
	if err != nil {
		return place{}, err
	}
	if root == "" {
		journal := s.Sub(s.Layout().Heirloom().Join(tracker.JournalName))
		return a.keepPlace(place{store: s, tracker: a.newTracker(s.Sub(s.Layout().Tracker()), journal)}), nil
	}
	rooted, err := a.openStore(ctx, root, c, shared)
	if err != nil {
		return place{}, err
	}
	// Who names a bare root writes there with TorchX too, of which no journal would tell.
	return a.keepPlace(place{store: s, tracker: a.newTracker(rooted, nil), bare: rooted.URL()}), nil
}

// newTracker is the tracker rooted in s, with a journal unless that is nil. What it had to pass over becomes a warning,
// and what it writes makes this user's index of it out of date.
func (a *app) newTracker(s, journal *store.Store) *tracker.FileTracker {
	var t *tracker.FileTracker
	t = tracker.NewFileTracker(s, &tracker.Options{
		Writer:  "heirloom " + readVersion().Version,
		Warn:    func(w tracker.Warning) { a.warn("%s", w) },
		Journal: journal,
		Wrote:   func(tracker.RunID) { a.wrote(t) },
	})
	return t
}

// beside is the URL of what heirloom keeps next to a bare tracker root: <root>.heirloom.
func beside(root string) string {
	path, query, hasQuery := strings.Cut(root, "?")
	path = strings.TrimRight(path, "/") + ".heirloom"
	if hasQuery {
		return path + "?" + query
	}
	return path
}

// openStore opens one URL with the layout of the settings and keeps it for closing.
func (a *app) openStore(ctx context.Context, url string, c *config.Config, shared bool) (*store.Store, error) {
	s, err := a.openAny(ctx, url, c, shared)
	if err == nil && s.Scheme() == "mem" {
		return nil, invalidf("open %s: mem:// would be forgotten when this command ends", url)
	}
	return s, err
}

// openAny is openStore for the commands that need nothing to last.
func (a *app) openAny(ctx context.Context, url string, c *config.Config, shared bool) (*store.Store, error) {
	options := a.storeOptions(ctx, c, url)
	options.Shared = shared
	s, err := store.Open(ctx, url, options)
	if err != nil {
		return nil, err
	}
	a.keep(s)
	return s, nil
}

// storeOptions are what the settings and the flags say of every store, and credentials for that at url.
func (a *app) storeOptions(ctx context.Context, c *config.Config, url string) *store.Options {
	options := &store.Options{
		Environ:            a.environ,
		TrainPath:          c.Get(config.TrainPath).Text,
		ValPath:            c.Get(config.ValPath).Text,
		TestPath:           c.Get(config.TestPath).Text,
		RunsPath:           c.Get(config.RunsPath).Text,
		CheckpointFilename: c.Get(config.CheckpointFile).Text,
	}
	if text := c.Get(config.SaveRuns).Text; text != "" {
		save, _ := strconv.ParseBool(text) // checked when it was read
		options.SaveRuns = &save
	}
	if a.flags.verbose {
		options.Intercept = a.watch
	}
	a.lend(ctx, url, options)
	return options
}

// here opens the configured place, for the commands that need nothing else from the settings.
func (a *app) here(ctx context.Context) (place, error) {
	c, err := a.settings(ctx, nil)
	if err != nil {
		return place{}, err
	}
	return a.open(ctx, c)
}

// formatHere is what most commands begin with: the format that is asked for, of those offered, and the place.
func (a *app) formatHere(ctx context.Context, offered []render.Format) (render.Format, place, error) {
	format, err := a.format(offered)
	if err != nil {
		return "", place{}, err
	}
	p, err := a.here(ctx)
	return format, p, err
}
