package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// ReplicaExit is how one replica ended in one attempt. Where the record of a
// replica is absent and who should have written it is gone, the replica is lost,
// never succeeded.
type ReplicaExit struct {
	Role    string        `json:"role"`
	Replica int           `json:"replica"` // from 0 within the role
	Attempt int           `json:"attempt"` // of the run
	State   tracker.State `json:"state"`   // Succeeded, Failed, or Cancelled if we ended it

	ExitCode int    `json:"exit_code"`        // as a shell shows it: 128+n after signal n; 126, 127
	Signal   string `json:"signal,omitempty"` // "SIGKILL", …; "" = it exited by itself

	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"` // 0 = it could not be started
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	LogDir  string    `json:"log_dir,omitempty"` // local directory of its logs
	Error   string    `json:"error,omitempty"`   // why it could not be started, or what went wrong besides
}

// WriteReplicaExit writes the record whole or not at all; when it returns nil the
// record outlives a power failure. An earlier one of that name is replaced.
func WriteReplicaExit(file string, exit ReplicaExit) error {
	exit.Error = store.Redact(exit.Error)
	body, err := json.Marshal(exit)
	if err != nil {
		return fmt.Errorf("write exit record: %w", err)
	}
	if err := WriteFile(file, append(body, '\n'), true); err != nil {
		return fmt.Errorf("write exit record: %w", err)
	}
	return nil
}

// ReadReplicaExit reads a record. One that is not there is fs.ErrNotExist, one
// that cannot be understood store.ErrCorrupt.
func ReadReplicaExit(file string) (ReplicaExit, error) {
	var exit ReplicaExit
	body, err := os.ReadFile(file)
	if err != nil {
		return exit, fmt.Errorf("read exit record: %w", err)
	}
	if err := json.Unmarshal(body, &exit); err != nil {
		return exit, fmt.Errorf("read exit record %s: %w: %w", file, store.ErrCorrupt, err)
	}
	return exit, nil
}

// WriteFile writes a file, readable by its owner alone, beside its place and moves it
// there, so that it is whole or not there. With durable both the bytes and the name
// outlive a power failure.
func WriteFile(file string, body []byte, durable bool) error {
	dir := filepath.Dir(file)
	temp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(body)
	if err == nil && durable {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	if !durable {
		return nil
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // some systems refuse it for directories
		_ = d.Close()
	}
	return nil
}

// Status is the record as part of an app's status.
func (e ReplicaExit) Status() ReplicaStatus {
	s := ReplicaStatus{
		ID: e.Replica, Role: e.Role, State: e.State, Hostname: e.Host, Attempt: e.Attempt, PID: e.PID,
		Signal: e.Signal, Reason: e.Error, Started: e.Started, Ended: e.Ended,
	}
	if e.Signal == "" {
		code := e.ExitCode
		s.ExitCode = &code
	}
	return s
}
