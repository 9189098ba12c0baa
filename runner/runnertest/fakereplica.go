package runnertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fakeReplica is a replica. The mutex of its Fake guards its status.
type fakeReplica struct {
	app         *fakeApp
	role        *runner.Role
	status      runner.ReplicaStatus
	cannotStart bool
}

func newFakeReplica(a *fakeApp, role *runner.Role, id int) *fakeReplica {
	return &fakeReplica{app: a, role: role, status: runner.ReplicaStatus{ID: id, Role: role.Name, State: tracker.Pending, Hostname: "localhost"}}
}

func (r *fakeReplica) logDir(attempt int) string {
	return filepath.Join(r.app.dir(), r.role.Name, strconv.Itoa(r.status.ID), strconv.Itoa(attempt))
}

// run runs the replica once, to its end, and says how it ended.
func (r *fakeReplica) run(ctx context.Context, attempt int) runner.State {
	r.set(func(s *runner.ReplicaStatus) {
		*s = runner.ReplicaStatus{ID: s.ID, Role: s.Role, Hostname: s.Hostname, State: tracker.Pending, Attempt: attempt}
	})
	if ctx.Err() != nil {
		return r.set(func(s *runner.ReplicaStatus) { s.State = tracker.Cancelled })
	}
	exit, err := r.execute(ctx, attempt)
	said, _ := os.ReadFile(filepath.Join(r.logDir(attempt), errorFileName))
	return r.set(func(s *runner.ReplicaStatus) {
		s.State, s.Started, s.Ended, s.Signal = tracker.Succeeded, exit.Started, exit.Ended, exit.Signal
		switch {
		case err != nil:
			s.State, s.Reason, exit.Code, s.Ended = tracker.Failed, err.Error(), codeOf(err), time.Now()
			r.cannotStart = true
		case exit.Code != 0:
			if s.State = tracker.Failed; ctx.Err() != nil && exit.Stop != "" {
				s.State = tracker.Cancelled
			}
		}
		if exit.Signal == "" {
			s.ExitCode = &exit.Code
		}
		if len(said) > 0 {
			s.Error = runner.ParseReplicaError(said)
		}
	})
}

func codeOf(err error) int {
	switch {
	case errors.Is(err, process.ErrNotFound):
		return 127
	case errors.Is(err, process.ErrNotExecutable):
		return 126
	}
	return runner.NoExitCode
}

const errorFileName = "error.json"

func (r *fakeReplica) execute(ctx context.Context, attempt int) (process.Exit, error) {
	dir := r.logDir(attempt)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return process.Exit{}, err
	}
	plan, id := r.app.plan, r.status.ID
	macros := runner.Macros{ImgRoot: plan.Dir, AppID: plan.Handle.App, ReplicaID: strconv.Itoa(id), Rank0Env: "TORCHX_RANK0_HOST"}
	role := macros.Apply(*r.role)
	env := append(slices.Clone(r.app.fake.environ),
		"TORCHX_JOB_ID="+string(plan.RunID), "HEIRLOOM_RUN_ID="+string(plan.RunID), "HEIRLOOM_ATTEMPT="+strconv.Itoa(attempt),
		"TORCHX_RANK0_HOST=localhost", "TORCHELASTIC_ERROR_FILE="+filepath.Join(dir, errorFileName))
	for _, name := range slices.Sorted(maps.Keys(role.Env)) {
		env = append(env, name+"="+role.Env[name])
	}
	mark := fmt.Sprintf("HEIRLOOM_LAUNCH=%s-%s-%d-%d", plan.Launch, role.Name, id, attempt)
	p, err := process.Start(process.Spec{
		Args: append([]string{role.Entrypoint}, role.Args...), Dir: plan.Dir, Env: append(env, mark), Mark: mark, LogDir: dir, Grace: r.app.grace,
	})
	if err != nil {
		return process.Exit{}, err
	}
	r.set(func(s *runner.ReplicaStatus) { s.State, s.PID, s.Started = tracker.Running, p.PID(), time.Now() })
	return p.Wait(ctx)
}

func (r *fakeReplica) set(change func(*runner.ReplicaStatus)) runner.State {
	r.app.fake.mu.Lock()
	defer r.app.fake.mu.Unlock()
	change(&r.status)
	return r.status.State
}
