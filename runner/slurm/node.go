package slurm

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// What the replicas of an app find in their environment, beside what the run
// itself tells them.
const (
	envRun       = "HEIRLOOM_RUN_ID"
	envTorchXJob = "TORCHX_JOB_ID"
	envAttempt   = "HEIRLOOM_ATTEMPT"
	envRole      = "HEIRLOOM_ROLE"
	envReplica   = "HEIRLOOM_REPLICA"
	envReplicas  = "HEIRLOOM_REPLICAS"
	envTask      = "HEIRLOOM_TASK"
	envLaunch    = "HEIRLOOM_LAUNCH"
	envRank0     = "TORCHX_RANK0_HOST"
	envErrorFile = "TORCHELASTIC_ERROR_FILE"
	errorFile    = "error.json"
)

// Node is what the program on a node is given: the batch script's side, or a
// task's.
type Node struct {
	Dir     string   // the job directory
	Environ []string // as Slurm set it
	// Launcher opens the place where the run is recorded; close is called at the end.
	// It is asked for only by RunBatch, and only if the plan names a store.
	Launcher func(ctx context.Context, recording runner.Recording) (l *runner.Launcher, close func() error, err error)
	// Restore, unless nil, puts a role's workspace into an empty directory.
	Restore func(ctx context.Context, recording runner.Recording, dirs []runner.WorkspaceDir, to string) error
	// Stdout and Stderr are the batch script's own, which a user's script writes to too.
	Stdout, Stderr io.Writer
	// Poll is how often a task looks whether it is to end; 0 = 300 ms.
	Poll time.Duration
}

// place is what a node knows of the job.
type place struct {
	Node
	base jobDir // of the job
	dir  jobDir // of this task of an array; else base
	plan *runner.Plan
	task string // of an array; "" = none
	run  tracker.RunID
	app  string // the last part of its id
}

func (n Node) open() (*place, error) {
	if n.Poll == 0 {
		n.Poll = 300 * time.Millisecond
	}
	p := &place{Node: n, base: jobDir(n.Dir), task: lookup(n.Environ, "SLURM_ARRAY_TASK_ID")}
	var err error
	if p.plan, err = p.base.plan(); err != nil {
		return nil, err
	}
	p.dir, p.run, p.app = p.base.task(p.task), p.plan.RunID, p.plan.Handle.App
	if p.task != "" {
		p.run, p.app = taskRun(p.plan.RunID, p.task), p.app+"_"+p.task
	}
	return p, nil
}

// taskRun is the run of an array's task, one of its own.
func taskRun(run tracker.RunID, task string) tracker.RunID {
	return run + tracker.RunID("_"+task)
}

// isStopped gives the wish that the app end, if there is one.
func (p *place) isStopped() (stopped, bool) {
	for _, d := range []jobDir{p.dir, p.base} {
		if s, err := readJSON[stopped](d.file("stopped.json")); err == nil {
			return s, true
		}
	}
	return stopped{}, false
}

// workDir is where the replicas of a role start: its workspace, else the plan's
// directory.
func (p *place) workDir(role *runner.Role) string {
	if len(role.Workspace) > 0 {
		return p.dir.file("work", store.EncodeRun(role.Name))
	}
	return p.plan.Dir
}

// macros are those of a replica.
func (p *place) macros(role *runner.Role, replica int) runner.Macros {
	return runner.Macros{ImgRoot: p.workDir(role), AppID: p.app, ReplicaID: strconv.Itoa(replica), Rank0Env: envRank0}
}

// restarts is how often Slurm has requeued the job.
func (p *place) restarts() int {
	n, _ := strconv.Atoi(lookup(p.Environ, "SLURM_RESTART_COUNT")) // unset at first
	return n
}

// member is one replica and its number among all.
type member struct {
	role    *runner.Role
	replica int
}

// members lists all replicas, in the order of the tasks that srun starts.
func (p *place) members() []member {
	var list []member
	for i := range p.plan.App.Roles {
		for k := range p.plan.App.Roles[i].NumReplicas {
			list = append(list, member{&p.plan.App.Roles[i], k})
		}
	}
	return list
}

// lookup gives the value of the last entry of that name, "" if there is none.
func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// with is an environment in which these variables have these values; what is empty
// is unset.
func with(environ []string, set map[string]string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := set[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] != "" {
			environ = append(environ, name+"="+set[name])
		}
	}
	return environ
}

func hostname(environ []string) string {
	if node := lookup(environ, "SLURMD_NODENAME"); node != "" {
		return node
	}
	host, _ := os.Hostname()
	return host
}

// warn tells the reader of the batch script's log.
func (n Node) warn(format string, args ...any) {
	if n.Stderr != nil {
		fmt.Fprintf(n.Stderr, "heirloom: "+format+"\n", args...)
	}
}
