package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// runsQuery is what runs was asked for. Zero fields ask for nothing.
type runsQuery struct {
	where   string
	order   string
	columns string
	limit   int
	parent  string
	project string
	mine    bool
	states  []string
	freshness

	user   string         // who "mine" is
	fields []filter.Field // of columns
}

const runsHelp = `List runs, the newest first; those whose start is unknown, such as TorchX's, last.
A run is RUNNING, SUCCEEDED, FAILED or CANCELLED; LOST if it neither ended nor
gave a sign of life; UNKNOWN if its writer does not say.

--where takes MLflow's filters, with or, not and parentheses: comparisons
(= != < <= > >= LIKE ILIKE IN, IS NULL) of
  params.NAME  metrics.NAME  tags.NAME  metadata.KEY
  id  name  state  started  ended  duration_seconds  exit_code  signal  attempts
  user  host  project  experiment  command  output_dir  git_commit  git_branch
  artifacts.name|path|kind|sha256|size_bytes
  parents.id|artifact|role  datasets.name|version|digest|uri
A name with spaces stands in double quotes, params."learning rate"; texts stand
in single ones. Times are '2026-11-20', '2026-11-20T10:00:00Z' or '7d ago'. A run
without a value satisfies no comparison of it, also not !=.

--order-by and --columns take the same names, with commas between them, the
former each with ASC or DESC. Runs without a value come last.

The answer comes from an index in the user's cache, which is brought up to date
when it is older than half a minute, or when this user has written since.`

func newRuns(a *app) *cobra.Command {
	var q runsQuery
	c := &cobra.Command{
		Use:   "runs",
		Short: "list runs, the newest first",
		Long:  runsHelp,
		Example: `  heirloom runs --mine --limit 10
  heirloom runs --state FAILED,LOST
  heirloom runs --where "metrics.accuracy > 0.9 and params.optimizer = 'adam'" --order-by "metrics.accuracy DESC"
  heirloom runs --where "started > '7d ago' and not artifacts.kind = 'model'" --columns id,state,params.lr
  heirloom runs --parent prepare-x7f2 -o csv`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.runRuns(c, q) },
	}
	flags := c.Flags()
	flags.StringVar(&q.where, "where", "", "only runs that satisfy the filter `EXPR`")
	flags.StringVar(&q.order, "order-by", "", "sort by `FIELDS`, each with ASC or DESC")
	flags.StringVar(&q.columns, "columns", "", "print these `FIELDS` of each run")
	flags.IntVar(&q.limit, "limit", 0, "at most `N`; 0 = all")
	flags.StringVar(&q.parent, "parent", "", "only runs that used this `NODE`")
	flags.StringVar(&q.project, "project", "", "only runs of the project `NAME`")
	flags.BoolVar(&q.mine, "mine", false, "only runs of the current user")
	flags.StringSliceVar(&q.states, "state", nil, "only runs in this `STATE`; several with commas")
	q.register(c)
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
	query, err := q.compile(c, time.Now())
	if err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	var runs []*tracker.Run
	var aliases []alias.Alias
	var complete *render.Completeness
	err = a.ask(c.Context(), c, p, q.freshness, func(x *index.Index) error {
		if aliases, err = x.Aliases(c.Context()); err != nil {
			return err
		}
		query.Where = resolveAliases(query.Where, aliases)
		if runs, err = a.runs(c.Context(), p, x, q, query); err != nil {
			return err
		}
		complete, err = a.completeness(c.Context(), x)
		return err
	})
	if err != nil {
		return err
	}
	a.warnOfRuns(runs)
	if len(runs) == 0 {
		if query.Where != nil || q.parent != "" {
			a.note("no such runs in %s", p.trackerURL())
		} else {
			a.note("no runs in %s; heirloom run records one, --store names another place", p.trackerURL())
		}
	}
	list := q.list(runs, aliases)
	list.AddCompleteness(complete)
	if err := a.printList(list, format); err != nil {
		return err
	}
	a.noteCompleteness(complete)
	return nil
}

// list is what is printed of runs.
func (q *runsQuery) list(runs []*tracker.Run, aliases []alias.Alias) render.List {
	if q.fields != nil {
		return render.RunFields(runs, q.fields)
	}
	ids := make([]tracker.RunID, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	list := render.Runs(runs)
	list.AddAliases(ids, render.NewRunAliases(aliases))
	return list
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

// runs lists what the query asks for, in its order.
func (a *app) runs(ctx context.Context, p place, x *index.Index, q runsQuery, query index.Query) ([]*tracker.Run, error) {
	if q.parent != "" {
		users, err := a.usersOf(ctx, p, x, q.parent, q.freshness)
		if err != nil || users == nil {
			return nil, err
		}
		query.Where = both(query.Where, users)
	}
	return x.Runs(ctx, query)
}

// usersOf is the filter for the runs that used a node, nil if none did.
func (a *app) usersOf(ctx context.Context, p place, x *index.Index, text string, f freshness) (filter.Expr, error) {
	node, err := a.resolve(ctx, p, x, text, f)
	if err != nil {
		return nil, err
	}
	if known, err := x.Has(ctx, node.id); known || err != nil {
		return equal(filter.Parents, "id", node.id), err
	}
	_, sub, err := p.around(ctx, x, node, lineage.Query{Down: true, Depth: 1})
	if err != nil {
		return nil, err
	}
	var users []string
	for _, e := range sub.Edges {
		if e.From == node.id {
			users = append(users, e.To)
		}
	}
	if users == nil {
		return nil, nil
	}
	return equal(filter.Attributes, "id", users...), nil
}

// warnOfRuns tells what could not be read of the runs in an answer.
func (a *app) warnOfRuns(runs []*tracker.Run) {
	for _, run := range runs {
		for _, w := range run.Warnings {
			a.warn("%s", w)
		}
	}
}

// stateNames lists the states a run can be in.
func stateNames() []string {
	return []string{
		string(tracker.Unsubmitted), string(tracker.Submitted), string(tracker.Pending), string(tracker.Running),
		string(tracker.Succeeded), string(tracker.Failed), string(tracker.Cancelled), string(tracker.Lost), string(tracker.Unknown),
	}
}
