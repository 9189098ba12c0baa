package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Name is what the scheduler is called in handles.
const Name = "local"

// Options are what a Scheduler is made of. StateDir is needed.
type Options struct {
	StateDir string // of this scheduler alone; absolute

	// Supervise is the command that calls Supervise, to which the directory of the app is
	// appended; nil = Submit is refused, and apps run in the foreground alone.
	Supervise []string
	// Launcher makes the launcher that records in the store and tracker of those URLs; both
	// are "" for what is not recorded, for which package local gives a directory. The
	// caller calls the function that comes with it when it is done.
	Launcher func(ctx context.Context, store, tracker string) (*runner.Launcher, func() error, error)

	Environ []string // of the replicas; also tells of GPUs
	BinDir  string   // directory of the heirloom program, the last in the PATH of replicas; "" = none
	// GPUs lists the numbers of the machine's GPUs; nil = those that CUDA_VISIBLE_DEVICES of
	// Environ names, else what nvidia-smi says.
	GPUs func(ctx context.Context) ([]string, error)
	// Now is the clock by which old state is removed; nil = time.Now.
	Now func() time.Time
}

// config is what --cfg may say.
type config struct {
	PrependCWD bool `opt:"prepend_cwd" help:"look for programs in the working directory first"`
	AutoCUDA   bool `opt:"auto_set_cuda_visible_devices" help:"give each replica GPUs of its own, as many as its role asks for, by CUDA_VISIBLE_DEVICES"`
	Enforce    bool `opt:"enforce_resources" help:"hold each replica to the CPUs and memory its role asks for, by control groups; refused where there are none that are ours"`
	// Cgroup is read by groups.
	Cgroup string `opt:"cgroup" help:"control group below which each replica gets one of its own, by which all that it starts is ended; else the one we are in, if it is ours; none = do without"`
	// Keep is DefaultKeep.
	Keep time.Duration `opt:"keep" default:"720h" help:"how long the state of apps that have ended is kept on this machine: whoever submits removes what is older, but nothing of their runs; 0s = for ever"`
}

// Scheduler runs apps on this machine. It is safe for concurrent use.
type Scheduler struct {
	opts    Options
	options *runner.OptionSet
}

// New makes a scheduler. It creates StateDir when something is submitted.
func New(opts Options) (*Scheduler, error) {
	if !filepath.IsAbs(opts.StateDir) {
		return nil, fmt.Errorf("the directory of the local scheduler's state, %q, is not absolute: %w", opts.StateDir, store.ErrInvalid)
	}
	set, err := runner.OptionsOf(config{})
	if err != nil {
		return nil, err
	}
	return &Scheduler{opts: opts, options: set}, nil
}

// Options are those of --cfg.
func (s *Scheduler) Options() *runner.OptionSet { return s.options }

// Close does nothing: apps go on.
func (s *Scheduler) Close() error { return nil }

// DefaultResource is that of a role that asks for nothing: nothing.
func (s *Scheduler) DefaultResource(*runner.Role) runner.Resource { return runner.Resource{} }

// Validate refuses what would be passed over in silence.
func (s *Scheduler) Validate(_ context.Context, plan *runner.Plan) error {
	var cfg config
	if err := s.options.Decode(plan.Options, &cfg); err != nil {
		return err
	}
	_, err := cfg.groups(&plan.App)
	return err
}

// Request is what is submitted: the replicas in the order in which they start, with the
// variables that each gets beside its role's. It may be edited; an entry that is
// removed or renamed is an error of Submit.
type Request struct {
	Replicas []Replica `json:"replicas"`
	Path     string    `json:"path"` // PATH of all of them, unless a role has one
}

// Replica is one of them.
type Replica struct {
	Role    string            `json:"role"`
	Replica int               `json:"replica"`
	Command []string          `json:"command"` // macros replaced, for people
	Env     map[string]string `json:"env,omitempty"`
}

// String shows the request as what a shell would be told.
func (r Request) String() string {
	var b strings.Builder
	for _, one := range r.Replicas {
		fmt.Fprintf(&b, "# %s/%d\n", one.Role, one.Replica)
		for _, name := range sortedKeys(one.Env) {
			fmt.Fprintf(&b, "%s=%s ", name, store.Redact(one.Env[name]))
		}
		for i, word := range store.RedactArgs(one.Command) {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quoted(word))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Prepare makes the request.
func (s *Scheduler) Prepare(_ context.Context, plan *runner.Plan) error {
	var cfg config
	if err := s.options.Decode(plan.Options, &cfg); err != nil {
		return err
	}
	request := Request{Path: s.path(cfg, plan.Dir)}
	for i := range plan.App.Roles {
		role := plan.App.Roles[i]
		for k := range role.NumReplicas {
			shown := macrosOf(plan, plan.Dir, k).Apply(role)
			request.Replicas = append(request.Replicas, Replica{
				Role: role.Name, Replica: k, Command: append([]string{shown.Entrypoint}, shown.Args...),
			})
		}
	}
	if cfg.AutoCUDA {
		if err := s.assignGPUs(plan, &request); err != nil {
			return err
		}
	}
	plan.Request = request
	return nil
}

// macrosOf is what the macros of a replica stand for when it starts in dir.
func macrosOf(plan *runner.Plan, dir string, replica int) runner.Macros {
	return runner.Macros{ImgRoot: dir, AppID: plan.Handle.App, ReplicaID: fmt.Sprint(replica), Rank0Env: "TORCHX_RANK0_HOST"}
}

// path is PATH of the replicas. The working directory is in it only where that is
// asked for.
func (s *Scheduler) path(cfg config, dir string) string {
	list := filepath.SplitList(lookup(s.opts.Environ, "PATH"))
	if cfg.PrependCWD {
		list = append([]string{dir}, list...)
	}
	if s.opts.BinDir != "" && !slices.Contains(list, s.opts.BinDir) {
		list = append(list, s.opts.BinDir)
	}
	return strings.Join(list, string(os.PathListSeparator))
}

func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

const gpuLimit = 10 * time.Second // for nvidia-smi's answer
