package runner

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The variables of a replica, beside those of its run.
const (
	envRole      = "HEIRLOOM_ROLE"
	envReplica   = "HEIRLOOM_REPLICA"  // from 0 in its role
	envReplicas  = "HEIRLOOM_REPLICAS" // how many its role has
	envTask      = "HEIRLOOM_TASK"     // random: tells its processes from those of others
	envRank0     = "TORCHX_RANK0_HOST"
	envErrorFile = "TORCHELASTIC_ERROR_FILE"
)

// errorFile is the name of TORCHELASTIC_ERROR_FILE among the logs of a replica.
const errorFile = "error.json"

// spec is what one replica is started with.
func (c *crew) spec(t *task) (process.Spec, error) {
	s := process.Spec{
		Args: c.job.Args, Dir: c.dirOf(t.role), Env: c.environ, LogDir: t.dir, Mark: envLaunch + "=" + c.launch,
		Grace: c.grace(), Signals: c.signals, Guard: c.guard, Orphans: c.orphans,
		EndOnInterrupt: c.interrupts(), Cgroups: c.job.Cgroups,
	}
	s.Stdout, s.Stderr = c.screen.of(t, c.job.Stdout), c.screen.of(t, c.job.Stderr)
	if len(c.tasks) == 1 {
		s.Stdin = c.job.Stdin
	} else {
		t.signals = c.fan.Join()
		s.Signals = t.signals
	}
	if t.role == nil {
		return s, nil
	}
	if c.job.Enforce {
		s.Limits = t.role.Resource.limits()
	}
	var err error
	s.Args, s.Env, s.Mark, err = c.words(t)
	return s, err
}

// interrupts says whether SIGINT asks the job to end. To the ranks of a launch it may be
// a notice, as of Slurm's --signal.
func (c *crew) interrupts() bool { return c.job.Launch == nil }

// words gives command and environment of a replica of a role, macros replaced, and
// the mark of its processes.
func (c *crew) words(t *task) (args, environ []string, mark string, err error) {
	macros := Macros{ImgRoot: cmp.Or(c.dirOf(t.role), c.workdir()), AppID: macroAppID(c.id), ReplicaID: strconv.Itoa(t.replica), Rank0Env: envRank0}
	role := macros.Apply(*t.role)
	set := map[string]string{envRank0: "localhost"}
	for name, value := range role.Env {
		if !isOfRun(name) {
			set[name] = value
		}
	}
	if c.job.ReplicaEnv != nil {
		more, err := c.job.ReplicaEnv(t.name, t.replica)
		if err != nil {
			return nil, nil, "", err
		}
		maps.Copy(set, more)
	}
	own := fmt.Sprintf("%s-%s-%d-%d", c.launch, store.EncodeRun(t.name), t.replica, t.attempt)
	for name, value := range map[string]string{
		envRole: t.name, envReplica: strconv.Itoa(t.replica), envReplicas: strconv.Itoa(role.NumReplicas),
		envAttempt: strconv.Itoa(t.attempt), envTask: own, envErrorFile: filepath.Join(t.dir, errorFile),
	} {
		set[name] = value
	}
	return append([]string{role.Entrypoint}, role.Args...), with(c.environ, set), envTask + "=" + own, nil
}

// dirOf is where the replicas of a role start, "" = our own directory.
func (r *run) dirOf(role *Role) string {
	if role == nil || r.job.RoleDir == nil {
		return r.job.Dir
	}
	return cmp.Or(r.job.RoleDir(role.Name), r.job.Dir)
}

// isOfRun says whether a variable tells of the run, which is not the role's to
// change.
func isOfRun(name string) bool {
	switch name {
	case envStore, envRunID, envParent, envOutputDir, envCheckpointDir, envMetrics, envAttempt, envLaunch, envTorchXJob, envTorchXParent:
		return true
	}
	return false
}

// with is an environment in which these variables have these values.
func with(environ []string, set map[string]string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := set[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		environ = append(environ, name+"="+set[name])
	}
	return environ
}

// macroAppID is what the macro of that name stands for: the last part of the run's id.
func macroAppID(id tracker.RunID) string {
	if h, err := ParseHandle(string(id)); err == nil {
		return h.App
	}
	return appID(id)
}

// openLogDir makes the directory of a replica's logs in one attempt.
func (r *run) openLogDir(role string, replica, attempt int) (string, error) {
	dir := r.place.logDir(r, role, replica, attempt)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("make directory of logs: %w", err)
	}
	return dir, r.shareDirs(dir)
}

func (p *place) logDir(r *run, role string, replica, attempt int) string {
	key := r.Store.Layout().LogsDir(string(r.id), role, replica, attempt)
	otherwise := path.Join("logs", store.EncodeRun(role), strconv.Itoa(replica), strconv.Itoa(attempt))
	return filepath.Join(p.dir, filepath.FromSlash(p.below(key, otherwise)))
}
