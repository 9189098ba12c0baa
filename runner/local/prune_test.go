//go:build linux

package local

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestSubmitPrunesOldState: apps that ended long ago are forgotten, and nothing else is:
// not what runs, is lost, or left something in a workspace, and nothing of the
// runs themselves.
func TestSubmitPrunesOldState(t *testing.T) {
	s, url := newScheduler(t), t.TempDir()
	ended := func(roles ...runner.Role) runner.Handle {
		plan, err := planned(t, s, nil, roles...)
		if err != nil {
			t.Fatal(err)
		}
		plan.Recording.Store = url
		if _, err := s.Submit(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		waited(t, s, plan.Handle)
		return plan.Handle
	}
	old, lost, left := ended(shRole("a", 1, "echo kept")), ended(shRole("a", 1, "exit 1")), ended(shRole("a", 1, "exit 0"))
	running := submitted(t, s, shRole("a", 1, "sleep 600"))
	l, err := s.newest(lost)
	if err == nil {
		err = os.Remove(l.path(endFile))
	}
	if l, _ := s.newest(left); err == nil {
		err = os.MkdirAll(l.path(workspacesDir+"/a"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	known := func(h runner.Handle) bool {
		_, err := s.Status(t.Context(), h)
		if err != nil && !errors.Is(err, store.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	later := func(after time.Duration) { s.opts.Now = func() time.Time { return time.Now().Add(after) } }
	later(DefaultKeep - time.Hour)
	ended(shRole("a", 1, "exit 0"))
	if !known(old) {
		t.Error("it was removed before its time")
	}
	later(DefaultKeep + time.Hour)
	plan, err := planned(t, s, runner.Config{"keep": "0s"}, shRole("a", 1, "exit 0"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), plan); err != nil || !known(old) {
		t.Errorf("it was removed although all is to be kept: %v", err)
	}
	waited(t, s, plan.Handle)
	ended(shRole("a", 1, "exit 0"))
	for h, want := range map[runner.Handle]bool{old: false, lost: true, left: true, running: true} {
		if known(h) != want {
			t.Errorf("%s is known: %v", h, !want)
		}
	}
	if exists(s.appDir(old)) {
		t.Error("its directory stayed")
	}
	launcher, done, err := testLauncher(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = done() }()
	run, err := launcher.Tracker.Run(t.Context(), tracker.RunID(old.String()))
	if err != nil || run.State != tracker.Succeeded {
		t.Errorf("its run: %v", err)
	}
	logs := 0
	for o, err := range launcher.Store.List(t.Context(), string(launcher.Store.Layout().RunDir(old.String()))+"/logs/") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Size > 0 {
			logs++
		}
	}
	if logs == 0 {
		t.Error("the logs of its run are gone")
	}
}
