package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const runHelp = `Run a command, or a component, and record it: the command, git commit, host, user,
times and exit; its parameters, metrics, logs; what it used and what it made.

Behind "--" stands a command. Without it a first word that is the name of a component
(heirloom components), or a file of one, starts that, with its own options behind it.
-s names the scheduler, --cfg its options. On this machine the job runs in the
foreground, or with --detach under a supervisor that outlives this command; elsewhere
the command returns when the job is submitted, unless --wait. Then its id is on stdout,
for status, logs, wait and cancel. Where the line names nothing to run, [cli:run] in
.torchxconfig may.

The first line on stderr says store, run id and output directory. The job finds
them in HEIRLOOM_STORE, HEIRLOOM_RUN_ID and HEIRLOOM_OUTPUT_DIR, writes what it
makes into that directory, appends JSON lines to $HEIRLOOM_METRICS, and may call
"heirloom add". Python code written for TorchX's tracker logs into the same run.

On a local store that directory is the run's own. On any other the files in it are
stored while the command runs, each when it is whole and nobody writes it, and the
rest when it has ended; a command that was told to end by SIGTERM leaves that what
remains of its grace time. What could not be stored stays in the directory, also
if heirloom itself is killed. The next run on the machine tells which command sends
it; a further attempt of the same run sends it first, and adds to its metrics.

With --run the same line may run again, as schedulers do that requeue a job: that
is a further attempt of one run, with its own command, host, times, end and logs,
and number ($HEIRLOOM_ATTEMPT). --resume never wants a new run, must one that is
known. An attempt that gave a sign of life in the last three minutes is not joined
by another, unless it is certain to be gone, or --force is given. The metrics and,
on a local store, all outputs of earlier attempts are there again; from any other,
"heirloom checkpoint get $HEIRLOOM_RUN_ID DIR" fetches the latest checkpoint.

With --workspace the directory is kept in the store, less what its .heirloomignore, or
else .torchxignore, or else .gitignore names by git's rules, and is an input of the run;
the command starts in it, and "heirloom rerun" starts it from an equal one anywhere.
Several, or DIR:SUBDIR, are laid out in a copy of their own; so is what --detach,
--replicas and components start from, a copy for each role. A copy that the job changed is
kept, and told of: what is to last belongs in $HEIRLOOM_OUTPUT_DIR.

Processes that were started together (srun, torchrun, mpirun) are one run: the first
records it, each has logs of its own, and the run ends when all have. What the scheduler
starts again is a further attempt. HEIRLOOM_JOIN names the launch where nothing else
does; HEIRLOOM_JOIN=off makes each a run of its own.

Signals go to the job. The exit code is the job's own; 4 when --resume or a living
attempt forbids to start, 125 when heirloom itself failed, 126 when the command
cannot be executed, 127 when there is none. With --json the result is one document
on stdout and the job's output goes to stderr.

Flags stand before the command; "--" between them is good style.`

const runExample = `  heirloom run -- python train.py --lr 0.1
  heirloom run --name finetune --source train-x7f2#model --params params.toml -- ./finetune
  heirloom run --detach --replicas 4 -- ./worker
  heirloom run -s slurm --cfg partition=gpu,time=60 dist.ddp -j 2x8 --script train.py -- --lr 0.1
  heirloom run --run slurm://torchx/train-$SLURM_JOB_ID -- ./train.sh
  heirloom run --input clicks@2026-11-20 --output /data/big.bin --hash size -- make model`

// runFlags are what run is told about the job.
type runFlags struct {
	name, project, experiment, hash, runID string
	sources, inputs, outputs, pairs        []string
	workspaces                             []string
	params                                 string
	noArgvParams                           bool
	grace                                  time.Duration
	syncEvery                              time.Duration
	hasRunID                               bool // --run was given, if only as an empty text
	resume                                 string
	force                                  bool
	launchFlags
}

func newRun(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:     "run [flags] -- COMMAND [ARG...] | COMPONENT [OPTION...]",
		Short:   "run a command or component and record it",
		Long:    runHelp,
		Example: runExample,
		Args: func(c *cobra.Command, args []string) error {
			if f.stdin {
				return takes("")(c, args)
			}
			return nil
		},

		ValidArgsFunction: a.completeRunnable,
		RunE: func(c *cobra.Command, args []string) error {
			if f.stdin {
				var err error
				if args, err = a.readRequest(c, &f); err != nil {
					return err
				}
			}
			if f.script == "" {
				var err error
				if args, err = a.takeDefaults(c, args, &f); err != nil {
					return err
				}
			}
			f.hasRunID = c.Flags().Changed("run") || c.Flags().Changed("run-id")
			if err := errors.Join(f.checkResume(c), f.check(c)); err != nil {
				return err
			}
			err := a.runRun(c, args, f)
			if errors.Is(err, errHelped) {
				return nil
			}
			return err
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	f.registerFacts(c, a, false)
	flags.BoolVar(&f.noArgvParams, "no-argv-params", false, "do not take parameters from the command's own flags")
	f.registerRun(c, "seems to be running")
	flags.StringVar(&f.runID, "run-id", "", "") // as it was first called
	_ = flags.MarkHidden("run-id")
	flags.StringArrayVar(&f.workspaces, "workspace", nil, "`DIR` to keep, and to start the command in; [ROLE=]DIR[:SUBDIR], may be repeated")
	f.register(c, a)
	return c
}

// registerRun registers the flags that name a run which may be known already.
func (f *runFlags) registerRun(c *cobra.Command, obstacle string) {
	flags := c.Flags()
	flags.StringVar(&f.runID, "run", "", "full `ID` of the run; one that is known gets a further attempt")
	flags.StringVar(&f.resume, "resume", string(runner.ResumeAllow), "with --run: `MODE` allow (the default), never (a new run only) or must (a known one only)")
	flags.Lookup("resume").DefValue = "" // shown above, without quotes
	flags.BoolVar(&f.force, "force", false, "with --run: start although another attempt of it "+obstacle)
	register(c, "resume", fixed(resumeModes()))
}

func (a *app) runRun(c *cobra.Command, args []string, f runFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	settings, err := a.settings(c.Context(), f.settings(c))
	if err != nil {
		return err
	}
	scheduler, err := schedulerOf(f, settings)
	if err != nil {
		return err
	}
	if err := f.checkScheduler(c, scheduler); err != nil {
		return err
	}
	what, err := a.whatToRun(c, args, f)
	if err != nil {
		return err
	}
	p, err := a.open(c.Context(), settings)
	if err != nil {
		return err
	}
	job, err := a.job(c.Context(), p, settings, what.args, f)
	if err != nil {
		return err
	}
	if what.component != nil || !f.simple(scheduler) {
		return a.launchPlan(c, p, job, what, f, scheduler)
	}
	if job.Launch, err = a.launch(); err != nil {
		return err
	}
	if len(f.workspaces) > 0 {
		done, err := a.takeWorkspaces(c.Context(), p, f.workspaces, &job)
		if err != nil {
			return err
		}
		defer done()
	}
	return a.carryOut(c, p, job)
}

func resumeModes() []string {
	return []string{string(runner.ResumeAllow), string(runner.ResumeNever), string(runner.ResumeMust)}
}

// checkResume refuses what would be passed over in silence.
func (f *runFlags) checkResume(c *cobra.Command) error {
	if !slices.Contains(resumeModes(), f.resume) {
		return usagef(c.CommandPath(), "--resume %q is not one of %s", f.resume, strings.Join(resumeModes(), ", "))
	}
	for _, flag := range []string{"resume", "force"} {
		if c.Flags().Changed(flag) && !f.hasRunID {
			return usagef(c.CommandPath(), "--%s needs --run ID: without it each run is a new one", flag)
		}
	}
	return nil
}

// settings are the flags that other levels may give too.
func (f *runFlags) settings(c *cobra.Command) map[string]string {
	given := map[string]string{config.Project: f.project, config.Experiment: f.experiment, config.Hash: f.hash}
	if c.Flags().Changed("grace") {
		given[config.Grace] = f.grace.String()
	}
	return given
}

// job puts together what the flags and settings say.
func (a *app) job(ctx context.Context, p place, c *config.Config, args []string, f runFlags) (runner.Job, error) {
	grace, err := time.ParseDuration(c.Get(config.Grace).Text)
	if err != nil {
		return runner.Job{}, err
	}
	job := runner.Job{
		Args: args, Environ: a.surroundings(p), Name: f.name,
		Project: c.Get(config.Project).Text, Experiment: c.Get(config.Experiment).Text,
		ParamsFromArgs: !f.noArgvParams, Outputs: f.outputs, Hash: runner.HashMode(c.Get(config.Hash).Text),
		Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Grace: grace, SyncEvery: cmp.Or(f.syncEvery, -1),
		Resume: runner.Resume(f.resume), Force: f.force,
	}
	if c.Get(config.Tracker).Origin.Level == config.LevelTorchX {
		job.Fsspec = a.fsspecFile
	}
	if a.wantsJSON() {
		job.Stdout = a.stderr
	}
	if job.Dir, err = a.workdir(); err != nil {
		return runner.Job{}, err
	}
	if f.hasRunID {
		if job.RunID, err = p.wholeID(ctx, f.runID); err != nil {
			return runner.Job{}, err
		}
	}
	if f.parent != "" {
		if job.Parent, err = p.writable(ctx, f.parent); err != nil {
			return runner.Job{}, err
		}
	}
	job.Session = f.session
	if job.Params, err = f.parameters(); err != nil {
		return runner.Job{}, err
	}
	job.Sources, err = p.used(ctx, f, job.Dir)
	return job, err
}

// surroundings are our environment, with the bare tracker of the job's run in it, or none.
func (a *app) surroundings(p place) []string {
	const name = "HEIRLOOM_TRACKER="
	environ := slices.DeleteFunc(slices.Clone(a.environ), func(entry string) bool { return strings.HasPrefix(entry, name) })
	if p.bare != "" {
		environ = append(environ, name+p.bare)
	}
	return environ
}

// parameters are those of the file, then those of the line.
func (f *runFlags) parameters() (*pyjson.Object, error) {
	all := &pyjson.Object{}
	if f.params != "" {
		fromFile, err := readParams(f.params)
		if err != nil {
			return nil, err
		}
		all.Merge(fromFile)
	}
	pairs, err := parsePairs(f.pairs, false)
	if err != nil {
		return nil, err
	}
	all.Merge(pairs)
	return all, nil
}

// used lists the runs and inputs that the job is said to use.
func (p place) used(ctx context.Context, f runFlags, dir string) ([]tracker.Source, error) {
	var list []tracker.Source
	for _, text := range f.sources {
		s, err := p.source(ctx, text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	for _, text := range f.inputs {
		s, err := p.input(ctx, tracker.Source{}, text, dir)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", store.RedactURL(text), err)
		}
		list = append(list, s)
	}
	return list, nil
}

// doubts are warnings of sources and inputs that are recorded but may be mistaken.
func (p place) doubts(ctx context.Context, sources []tracker.Source) []string {
	var list []string
	for _, s := range sources {
		for _, doubt := range []string{p.unmade(ctx, s), absent(s)} {
			if doubt != "" {
				list = append(list, doubt)
			}
		}
	}
	return list
}
