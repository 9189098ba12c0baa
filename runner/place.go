package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// role is what the only role of a job in the foreground is called.
const role = "main"

// metricsFile is the name of HEIRLOOM_METRICS in the output directory.
const metricsFile = "metrics.jsonl"

// place is where a run works on this machine.
type place struct {
	key         store.Key // of the output directory
	dir         string    // the output directory, local
	inPlace     bool      // dir is the directory of the store itself, not a copy to be uploaded
	checkpoints string    // HEIRLOOM_CHECKPOINT_DIR
	logs        string
	logsRel     string   // the slash path of all logs, relative to dir
	scratch     string   // ours alone; holds dir, unless inPlace, and the configuration for TorchX
	keep        bool     // scratch holds what could not be stored
	lock        *os.File // the note in scratch, held while we live; nil = none
}

// settle makes the directories and the job's environment.
func (r *run) settle(ctx context.Context) error {
	var err error
	if r.place.scratch, err = os.MkdirTemp(r.TempDir, scratchStart); err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	layout := r.Store.Layout()
	p := &r.place
	p.key = layout.RunDir(string(r.id))
	p.dir, p.inPlace = r.Store.LocalPath(p.key)
	if !layout.SavesRuns() {
		p.inPlace = false
		r.notices = append(r.notices, "outputs and logs are not kept: save_runs is false")
	}
	if !p.inPlace {
		p.dir = filepath.Join(p.scratch, "output")
	}
	first := role
	if len(r.job.App.Roles) > 0 {
		first = r.job.App.Roles[0].Name
	}
	p.logs = p.logDir(r, first, r.replica().Number, r.attempt)
	logs, _ := filepath.Rel(p.dir, p.logs)
	p.logsRel, _, _ = strings.Cut(filepath.ToSlash(logs), "/")
	if len(r.job.App.Roles) > 0 {
		p.logs = filepath.Join(p.dir, p.logsRel)
	}
	p.checkpoints = filepath.Join(p.dir, filepath.FromSlash(p.below(layout.CheckpointDir(string(r.id)), "checkpoints")))
	for _, dir := range []string{p.logs, p.checkpoints} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("make output directory: %w", err)
		}
	}
	if err := r.shareDirs(p.logs, p.checkpoints); err != nil {
		return err
	}
	if err := r.openMirror(ctx); err != nil {
		return err
	}
	r.environ, err = r.makeEnviron()
	return err
}

// below gives the part of key below the output directory.
func (p *place) below(key store.Key, otherwise string) string {
	if rel, ok := strings.CutPrefix(string(key), string(p.key)+"/"); ok {
		return rel
	}
	return otherwise
}

// cleanUp removes scratch, and of the output directory what stayed empty.
func (r *run) cleanUp() {
	r.mirror.close()
	if r.place.checkpoints != "" && r.leads() { // others may still write there
		_ = os.Remove(r.place.checkpoints) // refused unless empty
	}
	if r.place.scratch == "" {
		return
	}
	if !r.place.keep {
		_ = os.RemoveAll(r.place.scratch)
	}
	if r.place.lock != nil {
		_ = r.place.lock.Close()
	}
}
