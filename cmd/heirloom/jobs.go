package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// jobsFlags are what jobs is asked for.
type jobsFlags struct {
	scheduler string
	all       bool
	states    []string
	since     time.Duration
	limit     int
}

func newJobs(a *app) *cobra.Command {
	var f jobsFlags
	c := &cobra.Command{
		Use:   "jobs",
		Short: "list the jobs that schedulers know, the youngest first",
		Long: `List the jobs that schedulers know, the youngest first: your own that heirloom
submitted, or with --all those of others too, where they can be seen. A scheduler
that is not at hand is passed over unless it is named. Runs that no scheduler knows
any more are in heirloom runs.`,
		Example: "  heirloom jobs --state RUNNING,PENDING\n  heirloom jobs -s slurm --all --since 1d",
		Args:    takes(""),
		RunE:    func(c *cobra.Command, _ []string) error { return a.runJobs(c, f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.scheduler, "scheduler", "s", "", "only those of the scheduler `NAME`")
	flags.BoolVar(&f.all, "all", false, "also of other users, and what heirloom did not submit")
	flags.StringSliceVar(&f.states, "state", nil, "only in this `STATE`; several with commas")
	ageFlag(flags, &f.since, "since", "only those submitted in the last `TIME`, as 2h or 1d")
	flags.IntVar(&f.limit, "limit", 0, "at most `N`; 0 = all")
	register(c, "scheduler", a.completeSchedulers)
	register(c, "state", completeStates)
	return c
}

func (a *app) runJobs(c *cobra.Command, f jobsFlags) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	query, err := f.query(c)
	if err != nil {
		return err
	}
	r, err := a.runnerOf("")
	if err != nil {
		return err
	}
	only, err := schedulerName(f.scheduler)
	if err != nil {
		return err
	}
	entries, err := a.listJobs(c.Context(), r, only, query)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		a.note("no such jobs")
	}
	list := render.List{Key: "jobs", Columns: []render.Column{
		{Name: "run"}, {Name: "name"}, {Name: "state"}, {Name: "job_id"}, {Name: "user"}, {Name: "submitted"}, {Name: "ended"},
	}}
	for _, e := range entries {
		list.Rows = append(list.Rows, []any{e.Handle.String(), orNil(e.Name), e.State, orNil(e.JobID), orNil(e.User), e.Submitted, e.Ended})
	}
	return a.printList(list, format)
}

func (f *jobsFlags) query(c *cobra.Command) (runner.ListQuery, error) {
	q := runner.ListQuery{All: f.all, Limit: f.limit}
	if f.limit < 0 {
		return q, usagef(c.CommandPath(), "--limit is %d, want 0 or more", f.limit)
	}
	if f.since > 0 {
		q.Since = time.Now().Add(-f.since)
	}
	for _, state := range f.states {
		s := strings.ToUpper(state)
		if !slices.Contains(stateNames(), s) {
			return q, usagef(c.CommandPath(), "unknown state %q, known are %s", state, strings.Join(stateNames(), ", "))
		}
		q.States = append(q.States, runner.State(s))
	}
	return q, nil
}

// listJobs asks one scheduler, or all of them that are at hand.
func (a *app) listJobs(ctx context.Context, r *runner.Runner, only string, q runner.ListQuery) ([]runner.ListEntry, error) {
	var all []runner.ListEntry
	for _, b := range r.Backends() {
		if only != "" && b.Name != only {
			continue
		}
		for e, err := range r.List(ctx, b.Name, q) {
			if err != nil {
				if only != "" || !errors.Is(err, store.ErrUnsupported) && !errors.Is(err, store.ErrUnavailable) {
					return nil, err
				}
				a.passedOver(b.Name, err)
				break
			}
			all = append(all, e)
		}
	}
	if only != "" && !slices.ContainsFunc(r.Backends(), func(b runner.Backend) bool { return b.Name == only }) {
		_, err := r.Scheduler(ctx, only)
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y runner.ListEntry) int {
		return cmp.Or(y.Submitted.Compare(x.Submitted), cmp.Compare(x.Handle.String(), y.Handle.String()))
	})
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, nil
}

// passedOver says in a line that a scheduler that was not named did not list its jobs; that Slurm is not here needs no
// word.
func (a *app) passedOver(scheduler string, err error) {
	switch {
	case errors.Is(err, store.ErrUnsupported):
		a.warn("%v", err)
	case scheduler != schedulerSlurm || a.hasProgram("squeue"):
		a.warn("scheduler %s does not answer; heirloom jobs -s %s tells why", scheduler, scheduler)
	}
}
