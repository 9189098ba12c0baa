package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// RunTask runs one replica, the one that the number of the task in the environment
// says, and writes how it ended. Its error is that of heirloom alone: how the replica
// ended is in the record.
func RunTask(ctx context.Context, n Node) error {
	signals := process.Catch()
	defer signals.Close()
	p, err := n.open()
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(lookup(n.Environ, "SLURM_PROCID"))
	members := p.members()
	if err != nil || number < 0 || number >= len(members) {
		return fmt.Errorf("task %q of Slurm is none of the %d replicas", lookup(n.Environ, "SLURM_PROCID"), len(members))
	}
	attempt, err := strconv.Atoi(lookup(n.Environ, envAttempt))
	if err != nil {
		return fmt.Errorf("%s is %q, not a number", envAttempt, lookup(n.Environ, envAttempt))
	}
	m := members[number]
	r := &replica{place: p, member: m, attempt: attempt, dir: p.dir.logDir(m.role.Name, m.replica, attempt)}
	spec := r.spec()
	return r.run(ctx, spec, signals)
}

// replica is one replica in one attempt.
type replica struct {
	*place
	member
	attempt int
	dir     string // of the logs
}

// spec is what the replica is started with.
func (r *replica) spec() process.Spec {
	role := r.macros(r.role, r.replica).Apply(*r.role)
	mark := fmt.Sprintf("%s-%s-%d-%d", lookup(r.Environ, envLaunch), store.EncodeRun(role.Name), r.replica, r.attempt)
	set := map[string]string{envRank0: lookup(r.Environ, envRank0)}
	if set[envRank0] == "" { // the node's name leads nowhere
		set[envRank0] = lookup(r.Environ, "SLURM_LAUNCH_NODE_IPADDR")
	}
	own := maps.Clone(role.Env)
	maps.DeleteFunc(own, func(name, _ string) bool { return lookup(r.Environ, name) != "" && isOfRun(name) })
	maps.Copy(set, own)
	maps.Copy(set, map[string]string{
		envRole: role.Name, envReplica: strconv.Itoa(r.replica), envReplicas: strconv.Itoa(role.NumReplicas),
		envTask: mark, envErrorFile: filepath.Join(r.dir, errorFile),
	})
	environ := with(r.Environ, set)
	for name, value := range own { // one that is set to nothing is not one that is unset
		if value == "" {
			environ = append(environ, name+"=")
		}
	}
	return process.Spec{
		Args: append([]string{role.Entrypoint}, role.Args...), Dir: r.workDir(r.role), Env: environ,
		LogDir: r.dir, Mark: envTask + "=" + mark, Grace: r.plan.Recording.Grace,
	}
}

// isOfRun says whether a variable tells of the run, which is not the role's to change.
func isOfRun(name string) bool {
	switch name {
	case "HEIRLOOM_STORE", "HEIRLOOM_RUN_ID", "HEIRLOOM_PARENT_RUN_ID", "HEIRLOOM_OUTPUT_DIR", "HEIRLOOM_CHECKPOINT_DIR", "HEIRLOOM_METRICS",
		envAttempt, envLaunch, "TORCHX_JOB_ID", "TORCHX_PARENT_RUN_ID":
		return true
	}
	return false
}

// run runs the replica to its end and records it.
func (r *replica) run(ctx context.Context, spec process.Spec, signals *process.Signals) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("make directory of logs: %w", diskError(err))
	}
	exit := runner.ReplicaExit{
		Role: r.role.Name, Replica: r.replica, Attempt: r.attempt, State: tracker.Running,
		Host: hostname(r.Environ), Started: time.Now().UTC(), LogDir: r.dir,
	}
	file := r.place.dir.replicaFile(r.attempt, r.role.Name, r.replica)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make directory of records: %w", diskError(err))
	}
	told := make(chan os.Signal, 64)
	spec.Signals = process.SignalsFrom(told)
	proc, err := process.Start(spec)
	if err != nil {
		exit.State, exit.ExitCode, exit.Error, exit.Ended = tracker.Failed, startCode(err), err.Error(), time.Now().UTC()
		return runner.WriteReplicaExit(file, exit)
	}
	exit.PID = proc.PID()
	if err := runner.WriteReplicaExit(file, exit); err != nil {
		r.warn("%v", err) // the end may fare better
	}
	ended := make(chan struct{})
	relayed := make(chan struct{})
	go func() { defer close(relayed); r.relay(signals, told, ended) }()
	got, err := proc.Wait(ctx)
	close(ended)
	<-relayed
	exit.ExitCode, exit.Signal, exit.Ended, exit.State = got.Code, got.Signal, got.Ended.UTC(), stateOfExit(got)
	exit.Error = troubles(got, err)
	return runner.WriteReplicaExit(file, exit)
}

// relay passes on signals, Slurm's and those of orders, the first SIGTERM alone: both
// may come. A grace time that is shorter than planned ends in SIGKILL.
func (r *replica) relay(from *process.Signals, told chan<- os.Signal, ended <-chan struct{}) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	seen, ending := 0, false
	var kill <-chan time.Time
	terminate := func(grace time.Duration) {
		if grace > 0 && kill == nil {
			kill = time.After(grace)
		}
		if !ending {
			ending = true
			told <- syscall.SIGTERM
		}
	}
	for {
		select {
		case <-ended:
			return
		case sig := <-from.Next():
			if sig == syscall.SIGTERM || sig == os.Interrupt {
				terminate(0)
			} else {
				told <- sig
			}
		case <-kill:
			told <- syscall.SIGKILL
			kill = time.After(100 * time.Millisecond) // again, for what was just being born
		case <-tick.C:
			for _, o := range r.place.dir.orders(r.attempt, seen) {
				seen++
				if sig := signalOf(o.Signal); o.Signal == "SIGTERM" {
					terminate(o.Grace)
				} else if sig != nil {
					told <- sig
				}
			}
		}
	}
}

// stateOfExit judges the end of a replica: what was told to end is cancelled.
func stateOfExit(exit process.Exit) tracker.State {
	switch {
	case exit.Stop == "SIGTERM" || exit.Stop == "SIGKILL" || exit.Stop == "cancel":
		return tracker.Cancelled
	case exit.Code == 0 && exit.Signal == "":
		return tracker.Succeeded
	}
	return tracker.Failed
}

func troubles(exit process.Exit, err error) string {
	var list []error
	if err != nil {
		list = append(list, err)
	}
	if exit.Left > 0 {
		list = append(list, fmt.Errorf("processes left behind and ended: %d", exit.Left))
	}
	if len(exit.Survivors) > 0 {
		list = append(list, fmt.Errorf("processes could not be ended: %v", exit.Survivors))
	}
	if exit.LostBytes > 0 || exit.LogErr != nil {
		list = append(list, fmt.Errorf("%d bytes of output are missing from the logs: %w", exit.LostBytes, exit.LogErr))
	}
	if all := errors.Join(list...); all != nil {
		return all.Error()
	}
	return ""
}

func startCode(err error) int {
	switch {
	case errors.Is(err, runner.ErrNotFound):
		return 127
	case errors.Is(err, runner.ErrNotExecutable):
		return 126
	}
	return 125
}
