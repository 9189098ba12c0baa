package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/tracker"
)

// stopCancelled is why a job ends that a person wants to end; the other reasons are
// Slurm's, of which stopRequeued is not the end of it.
const (
	stopCancelled = "cancelled"
	stopRequeued  = "requeued by Slurm"
)

const lookupLimit = 2 * time.Second // for the first node's name

// runReplicas runs all replicas to their end: the tasks of srun, or the user's own
// script in place of them.
func (b *batch) runReplicas(ctx context.Context, environ []string) (process.Exit, error) {
	if body := b.base.file("script"); isFile(body) {
		return b.runScript(ctx, body, environ)
	}
	path, err := (&process.Spec{Args: []string{"srun"}, Env: environ}).Find()
	if err != nil {
		return process.Exit{}, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, b.srunArgs()...) //nolint:gosec // it is Slurm's own
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, b.Stdout, b.Stderr
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return process.Exit{}, fmt.Errorf("start srun: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	srunErr := b.attend(ctx, done)
	return b.collect(srunErr)
}

// srunArgs start one task for each replica, those of each role in its component of
// the job. A task's own exit code only says whether heirloom itself worked.
func (b *batch) srunArgs() []string {
	program := programOf(b.plan, string(b.base))
	var words []string
	for i := range b.plan.App.Roles {
		role := &b.plan.App.Roles[i]
		if i > 0 {
			words = append(words, ":")
		}
		if len(b.plan.App.Roles) > 1 {
			words = append(words, fmt.Sprintf("--het-group=%d", i))
		}
		words = append(words, fmt.Sprintf("--ntasks=%d", role.NumReplicas), "--distribution=block")
		words = addFlag(words, "cpus-per-task", role.Resource.CPU) // which srun does not take from the job since 22.05
		if i == 0 {
			words = append(words, "--kill-on-bad-exit=1", "--wait=0", "--input=none")
		}
		words = append(words, program, TaskCommand, string(b.base))
	}
	return words
}

// attend waits for srun, and meanwhile ends the replicas when one has failed, or a
// person, Slurm or a limit wants it.
func (b *batch) attend(ctx context.Context, done <-chan error) error {
	tick := time.NewTicker(b.Poll)
	defer tick.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case <-cancelled:
			cancelled = nil
			b.end(stopCancelled, 0)
		case sig := <-b.signals.Next():
			b.hear(ctx, sig)
		case <-tick.C:
			if s, is := b.isStopped(); is && !b.cancel {
				b.cancel = true
				b.end(stopCancelled, s.Grace)
			}
			if b.stop == "" && b.orders == 0 && slices.ContainsFunc(b.exits(), failed) {
				b.order(order{Signal: "SIGTERM"})
			}
		}
	}
}

func failed(r runner.ReplicaExit) bool { return r.State == tracker.Failed }

// hear acts on a signal to the batch script: SIGTERM comes when the job is cancelled,
// reaches its limit or is taken back by Slurm; others are for the job.
func (b *batch) hear(ctx context.Context, sig os.Signal) {
	if sig != syscall.SIGTERM && sig != os.Interrupt {
		if name := signalName(sig); name != "" {
			b.order(order{Signal: name})
		}
		return
	}
	s, wished := b.isStopped()
	why := stopCancelled
	if !wished {
		why = b.whyEnded(ctx)
	}
	b.cancel = why == stopCancelled
	b.end(why, s.Grace)
}

// whyEnded asks Slurm why it ends the job.
func (b *batch) whyEnded(ctx context.Context) string {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	jobs, err := b.slurm.show(limited, lookup(b.Environ, "SLURM_JOB_ID"))
	if err != nil || len(jobs) == 0 {
		return "ended by Slurm"
	}
	switch j := jobs[0]; {
	case j.State == "CANCELLED":
		return stopCancelled
	case j.State == "TIMEOUT" || j.Reason == "TimeLimit":
		return "time limit"
	case j.Restarts > b.restarts() || stateOf(j.State) == tracker.Pending:
		return stopRequeued
	case j.State == "COMPLETING" || j.State == "RUNNING": // how scancel looks at first
		return stopCancelled
	default:
		return strings.ToLower(j.State)
	}
}

// end tells all replicas to end. The first reason counts; a shorter grace time later
// does too.
func (b *batch) end(why string, grace time.Duration) {
	if b.stop == "" {
		b.stop = why
	}
	b.order(order{Signal: "SIGTERM", Grace: grace})
}

func (b *batch) order(o order) {
	if err := b.dir.giveOrder(b.number, b.orders, o); err != nil {
		b.warn("the replicas cannot be told %s: %v", o.Signal, err)
		return
	}
	b.orders++
}

// exits reads what the replicas have written by now; one that began is Running.
func (b *batch) exits() []runner.ReplicaExit {
	var list []runner.ReplicaExit
	for _, m := range b.members() {
		if exit, err := runner.ReadReplicaExit(b.dir.replicaFile(b.number, m.role.Name, m.replica)); err == nil {
			list = append(list, exit)
		}
	}
	return list
}

// collect gives the end of the attempt from those of its replicas. One without an end
// is lost, and the attempt has failed.
func (b *batch) collect(srunErr error) (process.Exit, error) {
	exit := process.Exit{Started: b.began, Ended: time.Now()}
	var lost []string
	for _, m := range b.members() {
		r, err := runner.ReadReplicaExit(b.dir.replicaFile(b.number, m.role.Name, m.replica))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit, err
		}
		if err != nil || r.State == tracker.Running {
			r.Role, r.Replica, r.Attempt, r.State = m.role.Name, m.replica, b.number, tracker.Lost
			lost = append(lost, fmt.Sprintf("%s[%d]", r.Role, r.Replica))
		}
		b.replicas = append(b.replicas, r)
	}
	slices.SortStableFunc(b.replicas, func(x, y runner.ReplicaExit) int { return cmp.Compare(x.Ended.UnixNano(), y.Ended.UnixNano()) })
	if i := slices.IndexFunc(b.replicas, failed); i >= 0 {
		exit.Code, exit.Signal = b.replicas[i].ExitCode, b.replicas[i].Signal
	} else if i := slices.IndexFunc(b.replicas, func(r runner.ReplicaExit) bool { return r.State == tracker.Cancelled }); i >= 0 {
		exit.Code, exit.Signal = b.replicas[i].ExitCode, b.replicas[i].Signal
	}
	if b.cancel {
		exit.Stop = "SIGTERM"
	}
	if len(lost) == 0 || b.stop != "" && exit.Code != 0 {
		return exit, nil
	}
	if b.stop != "" {
		exit.Code, exit.Signal = 137, "SIGKILL"
		return exit, nil
	}
	if exit.Code == 0 {
		exit.Code = runner.NoExitCode
	}
	err := fmt.Errorf("replicas did not say how they ended: %s", strings.Join(lost, ", "))
	if srunErr != nil {
		err = fmt.Errorf("%w; srun: %w", err, srunErr)
	}
	return exit, err
}

// firstHost is a name of the first node under which the others reach it, "" if the
// cluster's name for it leads nowhere.
func (b *batch) firstHost() string {
	name := lookup(b.Environ, "SLURMD_NODENAME")
	ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
	defer cancel()
	if addresses, err := net.DefaultResolver.LookupHost(ctx, name); name == "" || err != nil || len(addresses) == 0 {
		return ""
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// programOf is the path of heirloom on the nodes.
func programOf(plan *runner.Plan, dir string) string {
	if path, ok := plan.Options["program"].(string); ok && path != "" {
		return path
	}
	return filepath.Join(dir, "bin", programName)
}
