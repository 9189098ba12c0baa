package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The files of a launch.
const (
	planFile       = "plan.json"
	supervisorFile = "supervisor.json"
	startedFile    = "started.json"
	endFile        = "end.json"
	replicasDir    = "replicas"
	alivePipe      = "alive"
	controlPipe    = "control"
	ownLog         = "supervisor.log"
)

// launch is the directory of one submission of an app.
type launch struct{ dir string }

// supervisor is who looks after a launch.
type supervisor struct {
	PID     int       `json:"pid"`
	Birth   uint64    `json:"birth,omitempty"` // the kernel's start time of the process, in ticks
	BootID  string    `json:"boot_id,omitempty"`
	Host    string    `json:"host"`
	User    string    `json:"user,omitempty"`
	Started time.Time `json:"started"`
}

// started is what is known when the replicas are about to start.
type started struct {
	Store     string    `json:"store,omitempty"` // without secrets
	OutputDir string    `json:"output_dir"`
	LogDir    string    `json:"log_dir"`
	Time      time.Time `json:"time"`
}

// end is how an app ended.
type end struct {
	State    tracker.State `json:"state"`
	ExitCode int           `json:"exit_code"`
	Signal   string        `json:"signal,omitempty"`
	Restarts int           `json:"restarts"`
	Message  string        `json:"message,omitempty"` // what went wrong besides
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended"`

	Replicas []runner.ReplicaExit `json:"replicas,omitempty"` // in their last attempts
}

// appDir is the directory of all launches of an app.
func (s *Scheduler) appDir(h runner.Handle) string {
	return filepath.Join(s.opts.StateDir, store.EncodeRun(h.String()))
}

// newest gives the last launch of an app. The error has kind store.ErrNotExist.
func (s *Scheduler) newest(h runner.Handle) (launch, error) {
	n, err := lastLaunch(s.appDir(h))
	if err != nil {
		return launch{}, err
	}
	if n == 0 {
		return launch{}, &store.Error{Op: "find app", Key: h.String(), Kind: store.ErrNotExist, Err: errors.New("no such app was submitted on this machine, or it was deleted")}
	}
	return s.launch(h, n), nil
}

func (s *Scheduler) launch(h runner.Handle, n int) launch {
	return launch{filepath.Join(s.appDir(h), strconv.Itoa(n))}
}

// lastLaunch gives the highest number of a launch, 0 if there is none.
func lastLaunch(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read state of local apps: %w", err)
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

func (l launch) path(name string) string { return filepath.Join(l.dir, name) }

// write keeps a record whole; durable says that it must outlive a power failure, which
// what is only of interest while the supervisor lives need not.
func (l launch) write(name string, v any, durable bool) error {
	body, err := json.Marshal(v)
	if err == nil {
		err = runner.WriteFile(l.path(name), append(body, '\n'), durable)
	}
	return stateError(err)
}

// read reads a record; false if it is not there.
func (l launch) read(name string, v any) (bool, error) {
	body, err := os.ReadFile(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		return false, fmt.Errorf("read state of local app: %s: %w", l.path(name), err)
	}
	return true, nil
}

func (l launch) plan() (*runner.Plan, error) {
	body, err := os.ReadFile(l.path(planFile))
	if err != nil {
		return nil, fmt.Errorf("read state of local app: %w", err)
	}
	return runner.ReadPlan(body)
}

func (l launch) replicaDir(role string, replica int) string {
	return filepath.Join(l.dir, replicasDir, store.EncodeRun(role), strconv.Itoa(replica))
}

// noteReplica keeps how a replica stands. That it runs is told without waiting for
// the disk; that it ended is durable.
func (l launch) noteReplica(exit runner.ReplicaExit) error {
	dir := l.replicaDir(exit.Role, exit.Replica)
	file := filepath.Join(dir, strconv.Itoa(exit.Attempt)+".json")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return stateError(err)
	}
	if exit.State == tracker.Running {
		body, err := json.Marshal(exit)
		if err != nil {
			return err
		}
		return stateError(runner.WriteFile(file, append(body, '\n'), false))
	}
	return stateError(runner.WriteReplicaExit(file, exit))
}

// replica gives how one stands in its last attempt, first by those that the end of the
// app tells of; false if it never started.
func (l launch) replica(role string, k int, ended []runner.ReplicaExit) (runner.ReplicaExit, bool, error) {
	for _, exit := range ended {
		if exit.Role == role && exit.Replica == k {
			return exit, true, nil
		}
	}
	dir := l.replicaDir(role, k)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return runner.ReplicaExit{}, false, fmt.Errorf("read state of local app: %w", err)
	}
	last := 0
	for _, e := range entries {
		var n int
		if _, err := fmt.Sscanf(e.Name(), "%d.json", &n); err == nil && strconv.Itoa(n)+".json" == e.Name() {
			last = max(last, n)
		}
	}
	if last == 0 {
		return runner.ReplicaExit{}, false, nil
	}
	exit, err := runner.ReadReplicaExit(filepath.Join(dir, strconv.Itoa(last)+".json"))
	return exit, err == nil, err
}
