package joblog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Stored gives the logs that a run has in its store: where they lie, if that is a directory of
// this machine, else a copy in a directory below temp ("" = the system's). The caller calls done
// when it has read them. The App has the roles and replicas that there are logs of. Where none were
// kept the error has kind store.ErrNotExist.
func Stored(ctx context.Context, s *store.Store, run tracker.RunID, temp string) (tree Tree, done func(), err error) {
	layout := s.Layout()
	if !layout.SavesRuns() {
		return Tree{}, nil, &store.Error{Op: "read logs", Key: string(run), Kind: store.ErrNotExist, Err: fmt.Errorf("they were not kept, for save_runs is false")}
	}
	key, done := layout.RunDir(string(run)).Join("logs"), func() {}
	dir, local := s.LocalPath(key)
	if !local {
		if dir, err = os.MkdirTemp(temp, "heirloom-logs-"); err != nil {
			return Tree{}, nil, err
		}
		done = func() { _ = os.RemoveAll(dir) }
		if err := fetch(ctx, s, key, dir); err != nil {
			done()
			return Tree{}, nil, err
		}
	}
	app := appOf(dir)
	if len(app.Roles) == 0 {
		done()
		return Tree{}, nil, &store.Error{Op: "read logs", Key: string(run), Kind: store.ErrNotExist, Err: fmt.Errorf("there are none in %s", store.RedactURL(s.URL()))}
	}
	return Tree{Dir: dir, App: &app}, done, nil
}

func fetch(ctx context.Context, s *store.Store, key store.Key, dir string) error {
	below := string(key) + "/"
	for o, err := range s.List(ctx, below) {
		if err != nil {
			return fmt.Errorf("find the logs: %w", err)
		}
		rel := filepath.FromSlash(strings.TrimPrefix(string(o.Key), below))
		if !filepath.IsLocal(rel) {
			continue
		}
		target := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if _, err := s.Download(ctx, o.Key, target, nil); err != nil {
			return fmt.Errorf("fetch the logs: %w", err)
		}
	}
	return nil
}

// appOf lists the roles and replicas that a tree has, by name.
func appOf(dir string) runner.App {
	var app runner.App
	roles, _ := os.ReadDir(dir)
	for _, entry := range roles {
		name, ok := store.DecodeRun(entry.Name())
		replicas, _ := os.ReadDir(filepath.Join(dir, entry.Name()))
		most := 0
		for _, r := range replicas {
			if n, err := strconv.Atoi(r.Name()); err == nil && n >= 0 && holdsLogs(filepath.Join(dir, entry.Name(), r.Name())) {
				most = max(most, n+1)
			}
		}
		if ok && most > 0 {
			app.Roles = append(app.Roles, runner.Role{Name: name, NumReplicas: most})
		}
	}
	slices.SortFunc(app.Roles, func(x, y runner.Role) int { return strings.Compare(x.Name, y.Name) })
	return app
}

// holdsLogs says whether any attempt of a replica has a log; a run that nobody attends has empty directories.
func holdsLogs(dir string) bool {
	list, _ := os.ReadDir(dir)
	return slices.ContainsFunc(list, func(attempt os.DirEntry) bool {
		logs, _ := os.ReadDir(filepath.Join(dir, attempt.Name()))
		return len(logs) > 0
	})
}
