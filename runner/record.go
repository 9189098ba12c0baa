package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// KeyWarnings is the metadata key of what went wrong without failing the run.
const KeyWarnings = "heirloom.warnings"

const timeLayout = "2006-01-02T15:04:05.000000000Z" // of a time in UTC

// recordStart makes the run known, with all that can be said before it starts,
// and makes its directories. If it fails, an attempt already recorded is ended.
func (r *run) recordStart(ctx context.Context) error {
	wanted, stop := whileWanted(ctx)
	defer stop()
	err := r.writeStart(wanted)
	if errors.Is(err, ErrRefused) {
		return err
	}
	if err == nil {
		err = r.settle(wanted)
	}
	if err == nil {
		err = r.takeUp(wanted)
	}
	if err == nil {
		err = wanted.Err()
	}
	if err == nil {
		r.result.State = tracker.Running
		return nil
	}
	state := tracker.Failed
	if wanted.Err() != nil {
		state = tracker.Cancelled
	}
	err = fmt.Errorf("record start of run: %w", err)
	end := tracker.AttemptEnd{State: state, Time: r.now()}
	if r.job.Launch != nil {
		return errors.Join(err, r.endRank(ctx, end))
	}
	return errors.Join(err, r.endAttempt(ctx, end))
}

// writeStart writes the start of the attempt, one record of metadata and the
// links, all at once: none of them needs another, save that a run whose id was
// given must first admit a further attempt.
func (r *run) writeStart(ctx context.Context) error {
	format, err := r.Tracker.Format(ctx)
	if err != nil {
		return err
	}
	r.shared = format.Shared
	if format.Version == 0 {
		if err := r.Tracker.Init(ctx, tracker.InitOptions{}); err != nil {
			return err
		}
	}
	if r.job.Launch != nil {
		return r.writeJoined(ctx)
	}
	if r.job.RunID != "" && !r.job.Fresh {
		if err := r.claim(ctx); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	if r.attempt == 0 {
		group.Go(func() (err error) {
			n, err := r.Tracker.StartAttempt(ctx, r.id, r.attemptStart())
			r.setAttempt(n)
			return err
		})
	}
	group.Go(func() error { return r.Tracker.AddMetadata(ctx, r.id, r.metadata()) })
	for _, source := range r.sources() {
		group.Go(func() error { return r.Tracker.AddSource(ctx, r.id, source) })
	}
	return group.Wait()
}

func (r *run) attemptStart() tracker.AttemptStart {
	start := tracker.AttemptStart{
		Time: r.begun, Command: r.job.Args, Environ: r.job.Environ, Dir: r.workdir(),
		Host: hostname(), User: UserName(r.job.Environ), PID: os.Getpid(), BootID: bootID(), LostAfter: r.lostAfter,
	}
	if r.lostAfter != 0 { // we do not attend it
		start.PID, start.BootID = 0, ""
	}
	return start
}

func (r *run) workdir() string {
	if r.job.Dir != "" {
		return r.job.Dir
	}
	dir, _ := os.Getwd()
	return dir
}

// outputURL is where the outputs will be found, "" if they are not kept.
func (r *run) outputURL() string {
	layout := r.Store.Layout()
	if !layout.SavesRuns() {
		return ""
	}
	return r.Store.KeyURL(layout.RunDir(string(r.id)))
}

func (r *run) sources() []tracker.Source {
	list := slices.Clone(r.job.Sources)
	list = append(list, r.workspaceInputs()...)
	if r.job.RerunOf != "" {
		list = append(list, tracker.Source{ID: r.job.RerunOf, Role: tracker.RoleRerun})
	}
	if r.parent != "" {
		list = append(list, tracker.Source{ID: r.parent, Role: tracker.RoleParent})
	}
	return list
}

// metadata is what is known before the start.
func (r *run) metadata() *pyjson.Object {
	m := &pyjson.Object{}
	for _, e := range []pyjson.Member{
		{Key: tracker.KeyName, Value: r.job.Name},
		{Key: tracker.KeyProject, Value: r.job.Project},
		{Key: tracker.KeyExperiment, Value: r.job.Experiment},
		{Key: tracker.KeyUser, Value: UserName(r.job.Environ)},
		{Key: tracker.KeyHost, Value: hostname()},
		{Key: tracker.KeyDir, Value: r.workdir()},
		{Key: tracker.KeyOutputDir, Value: r.outputURL()},
		{Key: tracker.KeyVersion, Value: r.Version},
	} {
		if text := strings.ToValidUTF8(e.Value.(string), "\ufffd"); text != "" {
			m.Set(e.Key, text)
		}
	}
	args := store.RedactArgs(r.job.Args)
	setCommand(m, args)
	setApp(m, r.job.App)
	setOutputs(m, r.job.Outputs, r.workdir())
	if r.job.RerunOf != "" {
		m.Set(KeyRerunOf, string(r.job.RerunOf))
	}
	r.describeWorkspace(m)
	addFlat(m, tracker.PrefixParams, r.params(args))
	addFlat(m, tracker.PrefixTags, redacted(r.job.Tags))
	if len(r.earlier) > 0 {
		for _, key := range endKeys() {
			m.Set(key, nil)
		}
	}
	if r.job.RunID != "" && !r.job.Fresh { // it may be known to wait
		m.Set(tracker.KeyState, string(tracker.Running))
	}
	return m
}

// setCommand records a command, redacted already, if there is one.
func setCommand(m *pyjson.Object, args []string) {
	if len(args) == 0 {
		return
	}
	command := make([]any, len(args))
	for i, arg := range args {
		command[i] = strings.ToValidUTF8(arg, "\ufffd")
	}
	m.Set(tracker.KeyCommand, command)
}

// notStarted ends a run whose command could not be executed after all.
func (r *run) notStarted(ctx context.Context, cause error) (Result, error) {
	exit := process.Exit{Code: startCode(cause), Started: r.begun, Ended: r.now()}
	err := r.recordEnd(ctx, exit)
	r.result.Warnings = r.warnings
	return r.result, errors.Join(cause, err)
}

// recordEnd registers what the job made, says how it ended, and commits that.
func (r *run) recordEnd(ctx context.Context, exit process.Exit) error {
	if r.job.Launch != nil {
		return r.recordRankEnd(ctx, exit)
	}
	ctx = context.WithoutCancel(ctx)
	wanted, stop := whileWanted(ctx)
	defer stop()
	end := tracker.AttemptEnd{Time: exit.Ended, State: stateOf(exit), Signal: exit.Signal}
	if exit.Exited() {
		end.ExitCode = &exit.Code
	}
	m := &pyjson.Object{}
	r.readMetrics(m)
	err := r.registerOutputs(wanted, exit)
	if err != nil {
		end.State = tracker.Failed // what it made is not where it is looked for
		r.warnf("%v", err)
	}
	end.Requeued = end.State == tracker.Failed && r.job.Requeued != nil && r.job.Requeued()
	r.result.State, r.result.ExitCode, r.result.Signal, r.result.Ended = end.State, exit.Code, exit.Signal, exit.Ended
	m.Merge(r.git.answer(gitOvertime))
	r.describeEnd(m, end)
	limited, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	return reasons(err, r.Tracker.AddMetadata(limited, r.id, m), r.endAttempt(limited, end))
}

func (r *run) endAttempt(ctx context.Context, end tracker.AttemptEnd) error {
	if r.attempt == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	r.result.State, r.result.Ended = end.State, end.Time
	return r.Tracker.EndAttempt(limited, r.id, r.attempt, end)
}

// endKeys are what describeEnd sets. A further attempt sets them to null, Python's
// None, when it starts: what the earlier one said of its end is no longer so.
func endKeys() []string {
	return []string{tracker.KeyState, tracker.KeyEnded, tracker.KeyExitCode, tracker.KeySignal, KeyWarnings}
}

// describeEnd says once more in metadata, for TorchX's readers, what the end of
// the attempt says.
func (r *run) describeEnd(m *pyjson.Object, end tracker.AttemptEnd) {
	m.Set(tracker.KeyStarted, r.begunFirst().UTC().Format(timeLayout))
	if end.Requeued {
		m.Set(tracker.KeyState, string(tracker.Pending))
	} else {
		setEnd(m, end)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.warnings) == 0 {
		return
	}
	list := make([]any, len(r.warnings))
	for i, w := range r.warnings {
		list[i] = strings.ToValidUTF8(store.Redact(w), "\ufffd")
	}
	m.Set(KeyWarnings, list)
}

// setEnd says how a run ended.
func setEnd(m *pyjson.Object, end tracker.AttemptEnd) {
	m.Set(tracker.KeyState, string(end.State))
	m.Set(tracker.KeyEnded, end.Time.UTC().Format(timeLayout))
	if end.ExitCode != nil {
		m.Set(tracker.KeyExitCode, int64(*end.ExitCode))
	}
	if end.Signal != "" {
		m.Set(tracker.KeySignal, end.Signal)
	}
}

// stateOf judges an end. A job that was told to end before it had ended is
// cancelled; after an INT, which may mean something else to it, only if it did
// not exit with 0.
func stateOf(exit process.Exit) tracker.State {
	switch {
	case exit.Stop == "SIGTERM" || exit.Stop == "cancel":
		return tracker.Cancelled
	case exit.Code == 0 && exit.Signal == "":
		return tracker.Succeeded
	case exit.Stop != "":
		return tracker.Cancelled
	}
	return tracker.Failed
}

// warnOfExit tells what went wrong beside the end itself; who names the replica, ""
// where there is one.
func (r *run) warnOfExit(who string, exit process.Exit) {
	if exit.Killed {
		r.warnf("%sthe job did not end in the grace time and was killed", who)
	}
	if exit.Left > 0 {
		r.warnf("%sprocesses that the job left behind and that were ended: %d", who, exit.Left)
	}
	if len(exit.Survivors) > 0 {
		r.warnf("%sprocesses of the job could not be ended: %v", who, exit.Survivors)
	}
	if exit.LostBytes > 0 || exit.LogErr != nil {
		r.warnf("%s%d bytes of output are missing from the logs: %v", who, exit.LostBytes, exit.LogErr)
	}
}

// recordGitOfLongJob records git's answer while the job runs, so that it is kept
// whatever becomes of us; a short job has it in the record of its end.
func (r *run) recordGitOfLongJob(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(gitOwn):
	}
	select {
	case <-ctx.Done():
	case <-r.git.done:
		if r.git.facts.Len() == 0 {
			return
		}
		if err := r.Tracker.AddMetadata(context.WithoutCancel(ctx), r.id, r.git.facts); err == nil {
			r.git.recorded = true
		}
	}
}
