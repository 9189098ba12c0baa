package slurm

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/tracker"
)

// runScript runs a user's own batch script as the only replica. What it prints goes
// where its #SBATCH lines say, and into the logs.
func (b *batch) runScript(ctx context.Context, path string, environ []string) (process.Exit, error) {
	role := &b.plan.App.Roles[0]
	dir := b.dir.logDir(role.Name, 0, b.number)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return process.Exit{}, diskError(err)
	}
	r := runner.ReplicaExit{
		Role: role.Name, Attempt: b.number, State: tracker.Running, Host: hostname(b.Environ), Started: time.Now().UTC(), LogDir: dir,
	}
	file := b.dir.replicaFile(b.number, role.Name, 0)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return process.Exit{}, diskError(err)
	}
	told := make(chan os.Signal, 64)
	proc, err := process.Start(process.Spec{
		Args: append([]string{path}, b.macros(role, 0).Apply(*role).Args...), Dir: b.plan.Dir, Env: environ, LogDir: dir,
		Stdout: b.Stdout, Stderr: b.Stderr, Grace: b.plan.Recording.Grace, Signals: process.SignalsFrom(told),
	})
	if err != nil {
		return process.Exit{Code: startCode(err), Ended: time.Now()}, err
	}
	r.PID = proc.PID()
	if err := runner.WriteReplicaExit(file, r); err != nil {
		b.warn("%v", err)
	}
	ended := make(chan struct{})
	relayed := make(chan struct{})
	go func() { defer close(relayed); b.relay(ctx, told, ended) }()
	exit, err := proc.Wait(ctx)
	close(ended)
	<-relayed
	proc.Drain(time.Second)
	if b.cancel {
		exit.Stop = "SIGTERM"
	} else if b.stop != "" { // a limit: it failed
		exit.Stop = ""
		if exit.Code == 0 {
			exit.Code = stoppedCode
		}
	}
	r.ExitCode, r.Signal, r.Ended, r.State = exit.Code, exit.Signal, exit.Ended.UTC(), stateOfExit(exit)
	r.Error = troubles(exit, err)
	b.replicas = []runner.ReplicaExit{r}
	if writeErr := runner.WriteReplicaExit(file, r); writeErr != nil {
		b.warn("%v", writeErr)
	}
	return exit, err
}

// relay passes on what the batch script hears, the first SIGTERM alone.
func (b *batch) relay(ctx context.Context, told chan<- os.Signal, ended <-chan struct{}) {
	tick := time.NewTicker(b.Poll)
	defer tick.Stop()
	end := func(why string) {
		if b.stop == "" {
			b.stop = why
			told <- syscall.SIGTERM
		}
	}
	for {
		select {
		case <-ended:
			return
		case sig := <-b.signals.Next():
			if sig != syscall.SIGTERM && sig != os.Interrupt {
				told <- sig
				continue
			}
			why := stopCancelled
			if _, wished := b.isStopped(); !wished {
				why = b.whyEnded(ctx)
			}
			b.cancel = why == stopCancelled
			end(why)
		case <-tick.C:
			if _, is := b.isStopped(); is {
				b.cancel = true
				end(stopCancelled)
			}
		}
	}
}
