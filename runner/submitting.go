package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// KeyScheduler begins the metadata keys of where a run was submitted: name, options
// (JSON, redacted), job_id, and words of the scheduler's own.
const KeyScheduler = "heirloom.scheduler."

// Recorder gives what records runs when they are submitted, so that they are known
// while they wait: what is to run, from what, and that it is SUBMITTED. What runs them
// records the rest. environ is ours, for the name of the user.
//
// A run that may not be resumed, or must be, is refused before it is submitted, with
// ErrRefused; the plan then says ResumeAllow, since it is known from there on.
func (l *Launcher) Recorder(environ []string) Recorder { return &submitRecorder{l, environ} }

type submitRecorder struct {
	*Launcher
	environ []string
}

// Submitting records the plan.
func (s *submitRecorder) Submitting(ctx context.Context, plan *Plan) error {
	if err := s.mayResume(ctx, plan); err != nil {
		return err
	}
	format, err := s.Tracker.Format(ctx)
	if err == nil && format.Version == 0 {
		err = s.Tracker.Init(ctx, tracker.InitOptions{})
	}
	if err != nil {
		return err
	}
	m, err := s.metadata(plan)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	group.Go(func() error { return s.Tracker.AddMetadata(groupCtx, plan.RunID, m) })
	sources := slices.Clone(plan.Recording.Sources)
	if plan.Recording.Parent != "" {
		sources = append(sources, tracker.Source{ID: plan.Recording.Parent, Role: tracker.RoleParent})
	}
	for _, source := range sources {
		group.Go(func() error { return s.Tracker.AddSource(groupCtx, plan.RunID, source) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	plan.Recording.Resume = ResumeAllow
	return s.Tracker.Announce(ctx, plan.RunID)
}

func (s *submitRecorder) mayResume(ctx context.Context, plan *Plan) error {
	if plan.Recording.Resume == "" || plan.Recording.Resume == ResumeAllow {
		return nil
	}
	known, err := s.Tracker.Exists(ctx, plan.RunID)
	switch {
	case err != nil:
		return err
	case known && plan.Recording.Resume == ResumeNever:
		return refusal(fmt.Sprintf("%s exists already, and a run that exists is never resumed here", plan.RunID))
	case !known && plan.Recording.Resume == ResumeMust:
		return refusal(fmt.Sprintf("nothing is recorded of %s, so there is nothing to resume", plan.RunID))
	}
	return nil
}

func (s *submitRecorder) metadata(plan *Plan) (*pyjson.Object, error) {
	rec := &plan.Recording
	name := rec.Name
	if name == "" {
		name = plan.App.Name
	}
	m := pyjson.NewObject(pyjson.Member{Key: tracker.KeyState, Value: string(tracker.Submitted)})
	setTexts(m, []pyjson.Member{
		{Key: tracker.KeyName, Value: store.Redact(name)},
		{Key: tracker.KeyProject, Value: store.Redact(rec.Project)},
		{Key: tracker.KeyExperiment, Value: store.Redact(rec.Experiment)},
		{Key: tracker.KeyUser, Value: UserName(s.environ)},
		{Key: tracker.KeyDir, Value: plan.Dir},
		{Key: tracker.KeyVersion, Value: s.Version},
		{Key: KeyScheduler + "name", Value: plan.Scheduler},
	})
	if len(plan.Options) > 0 {
		options, err := json.Marshal(plan.Options.Redacted())
		if err != nil {
			return nil, err
		}
		m.Set(KeyScheduler+"options", string(options))
	}
	first := plan.App.Roles[0]
	setCommand(m, store.RedactArgs(append([]string{first.Entrypoint}, first.Args...)))
	setApp(m, plan.App)
	setOutputs(m, rec.Outputs, plan.Dir)
	addFlat(m, tracker.PrefixParams, redacted(rec.Params))
	addFlat(m, tracker.PrefixTags, redacted(rec.Tags))
	return m, nil
}

// setTexts sets those that are not empty.
func setTexts(m *pyjson.Object, members []pyjson.Member) {
	for _, e := range members {
		if text := strings.ToValidUTF8(e.Value.(string), "\ufffd"); text != "" {
			m.Set(e.Key, text)
		}
	}
}

// Submitted records the scheduler's own names.
func (s *submitRecorder) Submitted(ctx context.Context, plan *Plan, submission Submission) error {
	m := &pyjson.Object{}
	members := []pyjson.Member{{Key: KeyScheduler + "job_id", Value: submission.JobID}}
	for _, key := range slices.Sorted(maps.Keys(submission.Metadata)) {
		members = append(members, pyjson.Member{Key: KeyScheduler + key, Value: store.Redact(submission.Metadata[key])})
	}
	if setTexts(m, members); m.Len() == 0 {
		return nil
	}
	return s.addAnnounced(ctx, plan.RunID, m)
}

// NotSubmitted records why. Where it is not known whether the scheduler took the run,
// it stays SUBMITTED.
func (s *submitRecorder) NotSubmitted(ctx context.Context, plan *Plan, cause error) error {
	m := pyjson.NewObject(pyjson.Member{Key: KeyWarnings, Value: []any{strings.ToValidUTF8(store.Redact("not submitted: "+cause.Error()), "\ufffd")}})
	unknown := errors.Is(cause, store.ErrUnavailable) || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)
	if !unknown {
		m.Set(tracker.KeyState, string(tracker.Unsubmitted))
	}
	return s.addAnnounced(ctx, plan.RunID, m)
}
