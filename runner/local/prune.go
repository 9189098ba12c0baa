package local

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
)

// DefaultKeep is how long the state of an app that has ended is kept.
const DefaultKeep = 30 * 24 * time.Hour

// removedStart begins the name of a launch that is being removed.
const removedStart = ".old-"

// prune forgets apps that ended longer ago than the plan says to keep them. What is
// recorded of their runs stays, as do outputs and logs. Apps that are lost stay until
// they are deleted, and so do those that left something in the copy of a workspace.
func (s *Scheduler) prune(plan *runner.Plan) {
	var cfg config
	if err := s.options.Decode(plan.Options, &cfg); err != nil || cfg.Keep <= 0 {
		return
	}
	before := s.now().Add(-cfg.Keep)
	apps, _ := os.ReadDir(s.opts.StateDir) // what cannot be read stays
	for _, app := range apps {
		info, err := app.Info()
		if err != nil || !info.IsDir() || info.ModTime().After(before) { // a launch that began later made it younger
			continue
		}
		pruneApp(filepath.Join(s.opts.StateDir, app.Name()), before)
	}
}

func (s *Scheduler) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}

// pruneApp removes the launches of an app, the earlier first, so that who looks on sees
// its last until it is gone.
func pruneApp(dir string, before time.Time) {
	last, err := lastLaunch(dir)
	if err != nil || last > 0 && !endedBefore(launch{filepath.Join(dir, strconv.Itoa(last))}, before) {
		return
	}
	for n := 1; n <= last; n++ {
		l := launch{filepath.Join(dir, strconv.Itoa(n))}
		if keeps, err := l.keepsWorkspaces(); keeps || err != nil {
			return
		}
		_ = os.Rename(l.dir, filepath.Join(dir, removedStart+strconv.Itoa(n))) // gone at once, not bit by bit
	}
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), removedStart) {
			_ = workspace.Remove(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir) // refused if the app was submitted again meanwhile
}

func endedBefore(l launch, before time.Time) bool {
	var e end
	ended, err := l.read(endFile, &e)
	return err == nil && ended && e.Ended.Before(before)
}

// keepsWorkspaces says whether the app left something in a copy of its workspaces.
func (l launch) keepsWorkspaces() (bool, error) {
	entries, err := os.ReadDir(l.path(workspacesDir))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}
