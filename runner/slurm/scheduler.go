package slurm

import (
	"context"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Name is the scheduler's in handles and in the table of schedulers.
const Name = "slurm"

// Options are what a Scheduler is made of. StateDir is needed.
type Options struct {
	// Environ is the environment of the commands called, whose PATH tells where sbatch is,
	// as "NAME=value". Jobs start with it too, which is Slurm's own default.
	Environ []string
	// StateDir is where job directories and the memory of what was submitted are kept.
	// All nodes must see it under the same path, unless the option job_dir names
	// another place.
	StateDir string
	// Program is the path of the heirloom that runs on the nodes, of which each job
	// directory gets a verified copy; "" = the option program must be given.
	Program string
	// AnswerLimit is how long each of Slurm's commands may take; 0 = 1 minute.
	AnswerLimit time.Duration
	// Poll is how often a followed log and an app that is waited for are looked at; 0 = 1 s.
	Poll time.Duration
	// Now is the clock; nil = time.Now.
	Now func() time.Time
}

// Scheduler submits apps to the Slurm cluster that the environment's commands
// speak to. It may be used by several goroutines and keeps nothing in memory.
type Scheduler struct {
	opts    Options
	slurm   *client
	options *runner.OptionSet
}

// New makes a scheduler. It asks nothing of Slurm yet. A state directory that is not
// absolute is an error of kind store.ErrInvalid.
func New(o Options) (*Scheduler, error) {
	if !filepath.IsAbs(o.StateDir) {
		return nil, invalid("the state directory %q is not absolute", o.StateDir)
	}
	set, err := runner.OptionsOf(jobOptions{})
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	return &Scheduler{opts: o, slurm: newClient(o.Environ, o.AnswerLimit), options: set}, nil
}

// Options are the run options that Prepare understands.
func (s *Scheduler) Options() *runner.OptionSet { return s.options }

// Prepare sets the plan's request to a Request. It asks nothing of Slurm.
func (s *Scheduler) Prepare(_ context.Context, plan *runner.Plan) error {
	request, err := s.prepare(plan)
	if err == nil {
		plan.Request = request
	}
	return err
}

// Validate refuses what Slurm cannot do. The error has kind store.ErrUnsupported.
func (s *Scheduler) Validate(_ context.Context, plan *runner.Plan) error {
	for i := range plan.App.Roles {
		role := &plan.App.Roles[i]
		why := ""
		switch {
		case role.MaxRetries > 0 && role.Policy() != runner.RetryApplication:
			why = "retries " + string(role.Policy()) + ", and Slurm starts a job again as a whole: use " + string(runner.RetryApplication)
		case len(role.Mounts) > 0:
			why = "has mounts, and jobs of Slurm see the nodes' own file systems"
		case role.Fewest() < role.NumReplicas:
			why = "would do with fewer replicas, and a job of Slurm has all of them or none"
		case len(role.Resource.Devices) > 0:
			why = "asks for devices by name: use --sbatch-arg --gres=NAME:COUNT"
		default:
			continue
		}
		return &store.Error{Op: "plan Slurm job", Key: role.Name, Kind: store.ErrUnsupported, Err: errText("role " + role.Name + " " + why)}
	}
	return nil
}

type errText string

func (e errText) Error() string { return string(e) }

// DefaultResource is nothing: the cluster has defaults of its own.
func (s *Scheduler) DefaultResource(*runner.Role) runner.Resource { return runner.Resource{} }

// Close does nothing: jobs go on.
func (s *Scheduler) Close() error { return nil }

// dirOf is the job directory of a plan.
func (s *Scheduler) dirOf(plan *runner.Plan, o jobOptions) string {
	base := o.JobDir
	switch {
	case base == "":
		base = s.opts.StateDir
	case !filepath.IsAbs(base):
		base = filepath.Join(plan.Dir, base)
	}
	launch := plan.Launch
	if launch == "" {
		launch = "0"
	}
	return filepath.Join(base, store.EncodeRun(plan.Handle.App), launch)
}
