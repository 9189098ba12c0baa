package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// openScheme begins the ids of runs that no scheduler of ours carries out.
const openScheme = "external"

// Opened is a run that has begun and that nobody attends.
type Opened struct {
	Started
	Attempt int
	Environ []string // what its processes are to find in their environment, sorted
}

// Open records the start of a run that cannot be wrapped, as a notebook or a task of
// another scheduler. Job.Args may be empty. Nobody gives signs of life of it, so that
// it counts as running until [Launcher.Finish], unless lostAfter is more than 0:
// then it is lost when so much time has gone by since the last Beat.
func (l *Launcher) Open(ctx context.Context, job Job, lostAfter time.Duration) (Opened, error) {
	job.Execute = func(context.Context, Started, []string) (process.Exit, error) { return process.Exit{}, nil }
	job.SyncEvery = -1
	if job.RunID == "" {
		if job.Name == "" {
			job.Name = "run"
		}
		id, err := tracker.NewRunID(openScheme, job.Session, store.Redact(job.Name))
		if err != nil {
			return Opened{}, err
		}
		job.RunID, job.Fresh = id, true
	}
	r, err := l.plan(job)
	if err != nil {
		return Opened{}, err
	}
	r.lostAfter = -1
	if lostAfter > 0 {
		r.lostAfter = lostAfter
	}
	if err := r.recordStart(ctx); err != nil {
		r.cleanUp()
		return Opened{}, err
	}
	r.mirror.close()
	ask := askGit(ctx, job.Dir, job.Environ)
	if facts := ask.answer(gitOvertime); facts.Len() > 0 {
		err = r.Tracker.AddMetadata(ctx, r.id, facts)
	}
	if r.place.lock != nil {
		err = errors.Join(err, r.place.lock.Close())
	}
	return Opened{Started: r.started(), Attempt: r.attempt, Environ: r.added()}, err
}

// added is what the environment of the job has more than ours.
func (r *run) added() []string {
	var list []string
	for _, entry := range r.environ {
		name, value, _ := strings.Cut(entry, "=")
		if name != envLaunch && lookup(r.job.Environ, name) != value {
			list = append(list, entry)
		}
	}
	return list
}

// Ending says how a run ended that was begun by Open.
type Ending struct {
	RunID    tracker.RunID
	State    tracker.State // Succeeded, Failed or Cancelled
	ExitCode *int          // nil = not known
	Dir      string        // relative outputs are below it; "" = ours
	Environ  []string      // that of the run's processes, which tells where its outputs are
	Outputs  []string      // to register where they lie
	Hash     HashMode
	Grace    time.Duration
}

// Finish stores and registers the outputs of a run that was begun by [Launcher.Open]
// and records its end. A run that has ended in the same way is left as it is; one that
// has ended in another, or that a launcher attends, is store.ErrConflict; one without
// an attempt is store.ErrNotExist.
func (l *Launcher) Finish(ctx context.Context, e Ending) (Result, error) {
	attempts, err := l.Tracker.Attempts(ctx, e.RunID)
	if err != nil {
		return Result{}, err
	}
	if len(attempts) == 0 {
		return Result{}, fmt.Errorf("finish %s: it was never started: %w", e.RunID, store.ErrNotExist)
	}
	last := attempts[len(attempts)-1]
	if done, result, err := l.finished(e, last); done || err != nil {
		return result, err
	}
	r := &run{Launcher: l, id: e.RunID, begun: last.Start.Time, earlier: attempts[:len(attempts)-1]}
	r.job = Job{RunID: e.RunID, Dir: e.Dir, Environ: e.Environ, Outputs: e.Outputs, Hash: e.Hash, Grace: e.Grace}
	r.setAttempt(last.Number)
	r.result = Result{RunID: e.RunID, State: tracker.Running, Started: last.Start.Time}
	defer r.cleanUp()
	if err := r.check(); err != nil {
		return r.result, err
	}
	if err := r.takePlace(ctx); err != nil {
		return r.result, err
	}
	return r.finish(ctx, e)
}

// finished deals with what is not to be finished.
func (l *Launcher) finished(e Ending, last tracker.Attempt) (bool, Result, error) {
	if last.End == nil {
		if last.Start.LostAfter == 0 && last.State(l.now()) == tracker.Running {
			return false, Result{}, fmt.Errorf("finish %s: its launcher on %s is alive and will record the end: %w", e.RunID, last.Start.Host, store.ErrConflict)
		}
		return false, Result{}, nil
	}
	same := last.End.State == e.State && (e.ExitCode == nil || last.End.ExitCode != nil && *last.End.ExitCode == *e.ExitCode)
	if !same {
		return false, Result{}, fmt.Errorf("finish %s: it has ended as %s already: %w", e.RunID, last.End.State, store.ErrConflict)
	}
	result := Result{RunID: e.RunID, State: last.End.State, Started: last.Start.Time, Ended: last.End.Time}
	if last.End.ExitCode != nil {
		result.ExitCode = *last.End.ExitCode
	}
	return true, result, nil
}

// takePlace finds the directories that Open made.
func (r *run) takePlace(ctx context.Context) error {
	format, err := r.Tracker.Format(ctx)
	if err != nil {
		return err
	}
	r.shared = format.Shared
	p, layout := &r.place, r.Store.Layout()
	p.key, p.logsRel = layout.RunDir(string(r.id)), "logs"
	p.dir, p.inPlace = r.Store.LocalPath(p.key)
	if config := lookup(r.job.Environ, envFsspec); isOurs(config) && strings.HasPrefix(filepath.Base(filepath.Dir(config)), scratchStart) {
		p.scratch = filepath.Dir(config)
	}
	if !layout.SavesRuns() {
		p.inPlace = false
	}
	if p.inPlace {
		p.checkpoints = filepath.Join(p.dir, "checkpoints")
		return os.MkdirAll(p.dir, 0o777)
	}
	p.dir = lookup(r.job.Environ, envOutputDir)
	if p.dir == "" || lookup(r.job.Environ, envRunID) != string(r.id) {
		p.dir = ""
		return nil
	}
	if scratch := filepath.Dir(p.dir); strings.HasPrefix(filepath.Base(scratch), scratchStart) {
		p.scratch = scratch
	}
	p.checkpoints = filepath.Join(p.dir, "checkpoints")
	return r.openMirrorAgain()
}

// openMirrorAgain is openMirror for a directory that is there.
func (r *run) openMirrorAgain() error {
	if !r.Store.Layout().SavesRuns() || r.place.scratch == "" {
		return nil
	}
	y, err := r.Store.NewSync(r.place.dir, r.place.key, &store.SyncOptions{StateDir: filepath.Join(r.place.scratch, "sync")})
	if err == nil {
		r.mirror = &mirror{run: r, sync: y}
	}
	return err
}

func (r *run) finish(ctx context.Context, e Ending) (Result, error) {
	wanted, stop := whileWanted(ctx)
	defer stop()
	end := tracker.AttemptEnd{Time: r.now(), State: e.State, ExitCode: e.ExitCode}
	m := &pyjson.Object{}
	if r.place.dir != "" {
		r.readMetrics(m)
	} else if r.Store.Layout().SavesRuns() {
		r.warnf("the outputs were not stored: %s of the run is not in the environment, so nothing tells where they are", envOutputDir)
	}
	if err := r.registerOutputs(wanted, process.Exit{Ended: end.Time}); err != nil {
		r.place.keep = true
		return r.result, err // nothing is said yet, so that the same call may be made again
	}
	if e.ExitCode != nil {
		r.result.ExitCode = *e.ExitCode
	}
	r.result.State, r.result.Ended = end.State, end.Time
	r.describeEnd(m, end)
	err := reasons(r.Tracker.AddMetadata(ctx, r.id, m), r.endAttempt(ctx, end))
	r.result.Warnings = r.warnings
	return r.result, err
}
