package tracker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Factory makes a tracker from its configuration, in TorchX's terms an opaque
// string, usually the path or URL of a file, "" if there is none. A tracker
// that is also an io.Closer is closed by the AppRun.
type Factory func(ctx context.Context, config string) (Tracker, error)

// FromEnviron returns the run that this process is part of, as the launcher
// left it in the environment, given as "NAME=value".
//
// HEIRLOOM_RUN_ID with HEIRLOOM_TRACKER (a tracker's root) or HEIRLOOM_STORE
// (the store above it) comes first. Only without it TorchX's variables count:
// TORCHX_JOB_ID, TORCHX_TRACKERS with factories for its names, and
// TORCHX_TRACKER_<NAME>_CONFIG; never both, or facts would be written twice. A
// parent, HEIRLOOM_PARENT_RUN_ID or TORCHX_PARENT_RUN_ID, is linked at once.
//
// Outside of a launch the AppRun has the id UndefinedID and does nothing.
// Trackers without a job id, which TorchX lets write into one common run, and
// names that factories lack are store.ErrInvalid. Nil factories are
// DefaultFactories. The caller closes the AppRun.
func FromEnviron(ctx context.Context, environ []string, factories map[string]Factory) (*AppRun, error) {
	env := parseEnviron(environ)
	if factories == nil {
		factories = DefaultFactories(environ)
	}
	open := env.openTorchX
	if env["HEIRLOOM_RUN_ID"] != "" {
		open = env.openHeirloom
	}
	run, parent, err := open(ctx, environ, factories)
	if err == nil && parent != "" && len(run.trackers.trackers) > 0 {
		err = run.AddSource(ctx, Source{ID: parent, Role: RoleParent})
	}
	if err != nil {
		if run != nil {
			err = errors.Join(err, run.Close())
		}
		return nil, fmt.Errorf("run from environment: %w", err)
	}
	return run, nil
}

// environment holds variables that are set and not empty.
type environment map[string]string

func parseEnviron(environ []string) environment {
	env := make(environment)
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

func (env environment) id(name string) (RunID, error) {
	if env[name] == "" {
		return "", nil
	}
	id, err := ParseRunID(env[name])
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return id, nil
}

func invalid(format string, args ...any) error {
	return &store.Error{Op: "configure tracker", Kind: store.ErrInvalid, Err: fmt.Errorf(format, args...)}
}

func (env environment) openHeirloom(ctx context.Context, environ []string, _ map[string]Factory) (*AppRun, RunID, error) {
	id, err := env.id("HEIRLOOM_RUN_ID")
	if err != nil {
		return nil, "", err
	}
	parent, err := env.id("HEIRLOOM_PARENT_RUN_ID")
	if err != nil {
		return nil, "", err
	}
	url := env["HEIRLOOM_TRACKER"]
	if url == "" {
		url = env["HEIRLOOM_STORE"]
	}
	if url == "" {
		return nil, "", invalid("HEIRLOOM_RUN_ID is set, but neither HEIRLOOM_STORE nor HEIRLOOM_TRACKER says where to record it")
	}
	s, err := store.Open(ctx, url, env.storeOptions(ctx, url, environ))
	if err != nil {
		return nil, "", err
	}
	root, opts := s, &Options{}
	if env["HEIRLOOM_TRACKER"] == "" {
		root = s.Sub(s.Layout().Tracker())
		opts.Journal = s.Sub(s.Layout().Heirloom().Join(JournalName))
	}
	run := NewAppRun(id, NewFileTracker(root, opts))
	run.owned = append(run.owned, s)
	return run, parent, nil
}

// storeOptions are those for a place that heirloom's own variables name. As they
// hold no credentials, those of TorchX's configuration count if it leads there.
func (env environment) storeOptions(ctx context.Context, url string, environ []string) *store.Options {
	config := env["TORCHX_TRACKER_FSSPEC_CONFIG"]
	if config != "" && strings.Contains(url, ":") { // no local path
		if root, err := ReadFsspec(ctx, config, environ); err == nil && root.Holds(url) {
			return &root.Options
		}
	}
	return &store.Options{Environ: environ}
}

func (env environment) openTorchX(ctx context.Context, _ []string, factories map[string]Factory) (*AppRun, RunID, error) {
	id, err := env.id("TORCHX_JOB_ID")
	if err != nil {
		return nil, "", err
	}
	parent, err := env.id("TORCHX_PARENT_RUN_ID")
	if err != nil {
		return nil, "", err
	}
	names := splitList(env["TORCHX_TRACKERS"])
	if id == "" || id == UndefinedID {
		if len(names) > 0 {
			return nil, "", invalid("TORCHX_TRACKERS is set, but TORCHX_JOB_ID does not say which run this is")
		}
		return NewAppRun(UndefinedID), "", nil
	}
	run := NewAppRun(id)
	for _, name := range names {
		t, err := env.build(ctx, name, factories)
		if err != nil {
			return run, "", err
		}
		run.add(t)
		if c, ok := t.(io.Closer); ok {
			run.owned = append(run.owned, c)
		}
	}
	return run, parent, nil
}

func (env environment) build(ctx context.Context, name string, factories map[string]Factory) (Tracker, error) {
	factory, ok := factories[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(factories)), ", ")
		return nil, invalid("TORCHX_TRACKERS names the tracker %q, which is not known here; known are: %s", name, known)
	}
	t, err := factory(ctx, env["TORCHX_TRACKER_"+strings.ToUpper(name)+"_CONFIG"])
	if err != nil {
		return nil, fmt.Errorf("tracker %s: %w", name, err)
	}
	return t, nil
}

// splitList splits at commas and drops space, what is empty, and what comes again,
// which TorchX takes once too.
func splitList(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}
