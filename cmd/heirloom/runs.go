package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// runsQuery is what runs was asked for. Zero fields ask for nothing.
type runsQuery struct {
	limit   int
	parent  string
	project string
	mine    bool
	states  []string
	user    string // who "mine" is
}

func newRuns(a *app) *cobra.Command {
	var q runsQuery
	c := &cobra.Command{
		Use:   "runs",
		Short: "list runs, the newest first",
		Long: `List runs, the newest first; those whose start is unknown, such as TorchX's, last.
A run is RUNNING, SUCCEEDED, FAILED or CANCELLED; LOST if it neither ended nor
gave a sign of life; UNKNOWN if its writer does not say.`,
		Example: `  heirloom runs --mine --limit 10
  heirloom runs --state FAILED,LOST
  heirloom runs --parent prepare-x7f2 -o csv`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.runRuns(c, q) },
	}
	flags := c.Flags()
	flags.IntVar(&q.limit, "limit", 0, "at most `N`; 0 = all")
	flags.StringVar(&q.parent, "parent", "", "only runs that used this `RUN`")
	flags.StringVar(&q.project, "project", "", "only runs of the project `NAME`")
	flags.BoolVar(&q.mine, "mine", false, "only runs of the current user")
	flags.StringSliceVar(&q.states, "state", nil, "only runs in this `STATE`; several with commas")
	register(c, "parent", a.completeRun)
	register(c, "state", completeStates)
	return c
}

func (a *app) runRuns(c *cobra.Command, q runsQuery) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if err := q.check(c); err != nil {
		return err
	}
	if q.mine {
		q.user = runner.UserName(a.environ)
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	runs, err := p.runs(c.Context(), q)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		such := ""
		if q.narrows() {
			such = "such "
		}
		a.note("no %sruns in %s", such, p.trackerURL())
	}
	return a.printList(render.Runs(runs), format)
}

// check refuses what cannot be asked for, and turns states into their written form.
func (q *runsQuery) check(c *cobra.Command) error {
	if q.limit < 0 {
		return usagef(c.CommandPath(), "--limit is %d, want 0 or more", q.limit)
	}
	for i, state := range q.states {
		q.states[i] = strings.ToUpper(state)
		if !slices.Contains(stateNames(), q.states[i]) {
			return usagef(c.CommandPath(), "unknown state %q, known are %s", state, strings.Join(stateNames(), ", "))
		}
	}
	return nil
}

// runs lists what the query asks for, the newest first.
func (p place) runs(ctx context.Context, q runsQuery) ([]*tracker.Run, error) {
	options := &tracker.RunsOptions{}
	if q.parent != "" {
		parent, err := p.findRun(ctx, q.parent)
		if err != nil {
			return nil, err
		}
		options.Parent = parent
	}
	var runs []*tracker.Run
	for run, err := range p.tracker.Runs(ctx, options) {
		if err != nil {
			return nil, err
		}
		if q.wants(run) {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(x, y *tracker.Run) int {
		return cmp.Or(y.Started.Compare(x.Started), cmp.Compare(x.ID, y.ID))
	})
	if q.limit > 0 && len(runs) > q.limit {
		runs = runs[:q.limit]
	}
	return runs, nil
}

// narrows reports whether runs may be left out that are there.
func (q *runsQuery) narrows() bool {
	return q.parent != "" || q.project != "" || q.mine || len(q.states) > 0
}

func (q *runsQuery) wants(run *tracker.Run) bool {
	return (q.project == "" || run.Metadata.Text(tracker.KeyProject) == q.project) &&
		(q.user == "" || run.Metadata.Text(tracker.KeyUser) == q.user) &&
		(len(q.states) == 0 || slices.Contains(q.states, string(run.State)))
}

// stateNames lists the states a run can be in.
func stateNames() []string {
	return []string{
		string(tracker.Unsubmitted), string(tracker.Submitted), string(tracker.Pending), string(tracker.Running),
		string(tracker.Succeeded), string(tracker.Failed), string(tracker.Cancelled), string(tracker.Lost), string(tracker.Unknown),
	}
}
