package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// launchFlags are what run is told about how and where the job runs.
type launchFlags struct {
	scheduler, session, parent string
	cfg                        []string
	dryRun, detach, wait, logs bool
	stdin                      bool
	replicas, maxRetries       int
	values                     map[string]any // of a component's parameters, from --stdin
	config                     runner.Config  // options of the scheduler, from --stdin
	componentFrom              string         // the file whose [cli:run] names the component; "" = the line does
	slurmFlags
}

func (f *launchFlags) register(c *cobra.Command, a *app) {
	f.registerScheduler(c, a)
	f.slurmFlags.register(c)
	flags := c.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be submitted, and submit nothing")
	flags.BoolVar(&f.detach, "detach", false, "return when the job is submitted; its id is printed on stdout")
	flags.BoolVar(&f.wait, "wait", false, "wait for the job, on any scheduler, and exit as it did")
	flags.BoolVar(&f.logs, "log", false, "show the job's log while waiting for it, as --wait does not")
	flags.IntVar(&f.replicas, "replicas", 1, "`N` copies of the command")
	flags.IntVar(&f.maxRetries, "max-retries", 0, "start the command again up to `N` times where it fails")
	flags.StringVar(&f.parent, "parent", "", "the `RUN` that this one belongs to (default: the one that surrounds it)")
	flags.StringVar(&f.session, "session", "", "`NAME` of the session in the run's id (default torchx)")
	flags.BoolVar(&f.stdin, "stdin", false, "read component, arguments and scheduler as JSON from stdin, as TorchX does")
	for alias, flag := range map[string]string{"scheduler-args": "cfg", "dryrun": "dry-run", "parent-run-id": "parent"} {
		f.alias(c, alias, flag)
	}
	register(c, "parent", a.completeRun)
}

// registerScheduler adds the flags that say where a job runs.
func (f *launchFlags) registerScheduler(c *cobra.Command, a *app) {
	c.Flags().StringVarP(&f.scheduler, "scheduler", "s", "", "`NAME` of the scheduler (HEIRLOOM_SCHEDULER; default local); see heirloom schedulers")
	c.Flags().StringArrayVar(&f.cfg, "cfg", nil, "`K=V,LIST=A,B`, options of the scheduler; see heirloom runopts")
	register(c, "scheduler", a.completeSchedulers)
	register(c, "cfg", a.completeOptions)
}

// alias is TorchX's name of a flag.
func (f *launchFlags) alias(c *cobra.Command, alias, flag string) {
	switch flag {
	case "cfg":
		c.Flags().StringArrayVar(&f.cfg, alias, nil, "")
	case "dry-run":
		c.Flags().BoolVar(&f.dryRun, alias, false, "")
	case "parent":
		c.Flags().StringVar(&f.parent, alias, "", "")
	}
	_ = c.Flags().MarkHidden(alias)
}

// check refuses what contradicts itself.
func (f *launchFlags) check(c *cobra.Command) error {
	switch {
	case f.detach && (f.wait || f.logs):
		return usagef(c.CommandPath(), "--detach and --wait contradict each other")
	case f.replicas < 1:
		return usagef(c.CommandPath(), "--replicas is %d, want 1 or more", f.replicas)
	case f.maxRetries < 0:
		return usagef(c.CommandPath(), "--max-retries is %d, want 0 or more", f.maxRetries)
	case c.Flags().Changed("scheduler") && f.scheduler == "":
		return usagef(c.CommandPath(), "--scheduler is empty")
	}
	return nil
}

// simple says whether the job is one command in the foreground of this machine.
func (f *launchFlags) simple(scheduler string) bool {
	return scheduler == schedulerLocal && !f.detach && !f.dryRun && f.replicas == 1 && f.maxRetries == 0 && len(f.cfg) == 0
}

// launchPlan plans a job for a scheduler and submits it, prints the plan, or runs it here.
func (a *app) launchPlan(c *cobra.Command, p place, job runner.Job, what asked, f runFlags, scheduler string) error {
	ctx := c.Context()
	keeper := workspace.NewKeeper(p.store, nil)
	r, err := a.launching(f.session, p, keeper, scheduler)
	if err != nil {
		return err
	}
	if err := addWorkspaces(&what.app, f.workspaces, job.Dir); err != nil {
		return err
	}
	request, err := a.request(ctx, r, p, job, what, f, scheduler)
	if err != nil {
		return err
	}
	plan, err := r.Plan(ctx, request)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.printPlan(plan)
	}
	if scheduler == schedulerLocal && !f.detach {
		if err := a.keepWorkspaces(ctx, keeper, &plan.App); err != nil {
			return err
		}
		return a.foreground(ctx, r, plan, job, p)
	}
	for _, doubt := range p.doubts(ctx, job.Sources) {
		a.warn("%s", doubt)
	}
	h, err := r.Submit(ctx, plan)
	if err != nil {
		return err
	}
	a.note("heirloom: store %s, run %s", store.RedactURL(p.store.URL()), plan.RunID)
	return a.submitted(ctx, r, plan, h, p, f)
}

// launching is the runner of what is submitted: it keeps workspaces, and records at once what a scheduler may have wait.
func (a *app) launching(session string, p place, keeper *workspace.Keeper, scheduler string) (*runner.Runner, error) {
	options := &runner.Options{Workspaces: keeper}
	if scheduler != schedulerLocal {
		launcher := runner.NewLauncher(p.store, p.tracker)
		launcher.Version = readVersion().Version
		options.Recorder = launcher.Recorder(a.environ)
	}
	return a.runnerWith(session, options)
}

// addWorkspaces gives roles the directories that --workspace names.
func addWorkspaces(app *runner.App, texts []string, dir string) error {
	for _, text := range texts {
		w, err := parseWorkspace(text, dir)
		if err != nil {
			return err
		}
		if w.role != "" && app.Role(w.role) == nil {
			return invalidf("--workspace %s: there is no role %q, only %s", text, w.role, strings.Join(app.RoleNames(), ", "))
		}
		for i := range app.Roles {
			if role := &app.Roles[i]; w.role == "" || w.role == role.Name {
				role.Workspace = append(role.Workspace, w.dir)
			}
		}
	}
	return nil
}

// request is what the runner is asked for.
func (a *app) request(ctx context.Context, r *runner.Runner, p place, job runner.Job, what asked, f runFlags, scheduler string) (runner.Request, error) {
	cfg, err := a.options(ctx, r, scheduler, f.cfg)
	if err != nil {
		return runner.Request{}, err
	}
	cfg = cfg.Merge(f.config).Merge(f.slurmConfig(job.Dir))
	request := runner.Request{App: what.app, Scheduler: scheduler, Config: cfg, RunID: job.RunID, Dir: job.Dir, Recording: runner.Recording{
		Store: p.store.URL(), Tracker: p.bare, Name: job.Name, Project: job.Project, Experiment: job.Experiment,
		Parent: job.Parent, Resume: job.Resume, Force: job.Force, Params: job.Params, ParamsFromArgs: job.ParamsFromArgs,
		Sources: job.Sources, Outputs: job.Outputs, Hash: job.Hash, Fsspec: job.Fsspec, Grace: job.Grace, SyncEvery: job.SyncEvery,
	}}
	if request.App.Name = cmp.Or(f.name, request.App.Name); request.Recording.Experiment == "" {
		request.Recording.Experiment = experimentOf(what.app)
	}
	for i, output := range request.Recording.Outputs {
		if uri, err := store.CanonicalURI(output, job.Dir); err == nil && strings.HasPrefix(uri, "file://") {
			request.Recording.Outputs[i] = filepath.Join(job.Dir, output)
			if filepath.IsAbs(output) || strings.Contains(output, "://") {
				request.Recording.Outputs[i] = output
			}
		}
	}
	return request, nil
}

// experimentOf is the experiment that dist.* name, "" if none.
func experimentOf(app runner.App) string {
	for _, role := range app.Roles {
		if name := role.Env["TORCHX_TRACKING_EXPERIMENT_NAME"]; name != "" && name != "default-experiment" {
			return name
		}
	}
	return ""
}

// submittedRun is a run that was submitted, as run --json prints it; fields are only ever added.
type submittedRun struct {
	Run       tracker.RunID `json:"run"`
	State     tracker.State `json:"state"`
	Handle    string        `json:"handle"` // scheduler://session/app
	AppID     string        `json:"app_id"`
	Scheduler string        `json:"scheduler"`
	JobID     *string       `json:"job_id"`    // the scheduler's own; null = none
	UIURL     *string       `json:"ui_url"`    // null = none
	ExitCode  *int          `json:"exit_code"` // null unless --wait
	Store     string        `json:"store"`
}

// submitted tells what was submitted, and follows it where that is asked for.
func (a *app) submitted(ctx context.Context, r *runner.Runner, plan *runner.Plan, h runner.Handle, p place, f runFlags) error {
	doc := submittedRun{Run: plan.RunID, State: tracker.Submitted, Handle: h.String(), AppID: h.App, Scheduler: plan.Scheduler, Store: store.RedactURL(p.store.URL())}
	if !a.wantsJSON() {
		fmt.Fprintln(a.stdout, h)
	}
	var status runner.AppStatus
	var err error
	waited := f.wait || f.logs
	if waited {
		if status, err = a.follow(ctx, &launched{runner: r, handle: h}, f.logs); err == nil {
			a.settle(ctx, h, status)
		}
	} else {
		status, err = r.Status(ctx, h)
	}
	if err != nil && !waited { // it was submitted, and that is what counts
		a.warn("%v", err)
	} else if err != nil {
		return err
	} else {
		doc.State, doc.JobID, doc.UIURL = status.State, textOrNull(status.JobID), textOrNull(status.UIURL)
	}
	if waited {
		code := status.ExitCode()
		doc.ExitCode = &code
	}
	if a.wantsJSON() {
		if err := a.printJSON(doc); err != nil {
			return err
		}
	}
	if waited {
		return a.ended(status)
	}
	return nil
}

// follow waits for an app, and shows its log meanwhile.
func (a *app) follow(ctx context.Context, l *launched, logs bool) (runner.AppStatus, error) {
	if logs {
		p := logPrinter{out: bufio.NewWriter(a.stderr), format: render.Table, color: a.style(a.stderr).Color, live: true}
		if err := errors.Join(p.print(l.runner.Logs(ctx, l.handle, runner.LogQuery{Tail: true}), 0), p.out.Flush()); err != nil {
			a.warn("%v", err)
		}
	}
	return l.runner.Wait(ctx, l.handle, &runner.WaitOptions{Every: time.Second})
}

// textOrNull is null in JSON for "".
func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
