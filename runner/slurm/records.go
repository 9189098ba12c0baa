package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// entry is what the state directory remembers of an app: where its job directory is.
type entry struct {
	Handle runner.Handle `json:"handle"`
	Dir    string        `json:"dir"`
	Launch string        `json:"launch"`
}

// submitted is written into the job directory in two steps: before sbatch is asked,
// without a job, which is the intent; and with its answer.
type submitted struct {
	Handle  runner.Handle `json:"handle"`
	Launch  string        `json:"launch"`
	User    string        `json:"user,omitempty"`
	Host    string        `json:"host,omitempty"`
	Intent  time.Time     `json:"intent"`
	JobID   string        `json:"job_id,omitempty"` // "" = not known yet
	Cluster string        `json:"cluster,omitempty"`
	Time    time.Time     `json:"time,omitzero"`
}

// attempt is one start of the job by Slurm, written by its batch script when it
// begins and once more when it has ended.
type attempt struct {
	Number   int           `json:"attempt"`
	JobID    string        `json:"job_id"`
	Restarts int           `json:"restarts"` // by Slurm, before this one
	Host     string        `json:"host"`
	Nodes    string        `json:"nodes"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"` // zero = it runs, or its end could not be written
	State    tracker.State `json:"state"`
	ExitCode int           `json:"exit_code"`
	Signal   string        `json:"signal,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Requeue  bool          `json:"requeue,omitempty"` // Slurm was, or is about to be, asked for another attempt
}

// stopped is the wish that an app end, written before Slurm is told.
type stopped struct {
	Time  time.Time     `json:"time"`
	Grace time.Duration `json:"grace_ns,omitempty"` // 0 = as planned
}

// verdict is how an app ended that could not say so itself, as Slurm told while it
// knew.
type verdict struct {
	State   tracker.State `json:"state"`
	Message string        `json:"message"`
	Ended   time.Time     `json:"ended,omitzero"`
}

// jobDir is the path of a job directory, or of what is in it for one task of an array.
type jobDir string

func (d jobDir) file(elems ...string) string {
	return filepath.Join(append([]string{string(d)}, elems...)...)
}

// task is the directory of an array's task; that of no task is the job's.
func (d jobDir) task(id string) jobDir {
	if id == "" {
		return d
	}
	return jobDir(d.file("tasks", id))
}

func (d jobDir) attemptDir(n int) string { return d.file("attempts", fmt.Sprintf("%06d", n)) }

func (d jobDir) attemptFile(n int) string { return filepath.Join(d.attemptDir(n), "attempt.json") }

func (d jobDir) replicaFile(n int, role string, replica int) string {
	return filepath.Join(d.attemptDir(n), "replicas", store.EncodeRun(role), strconv.Itoa(replica)+".json")
}

// logDir is where one replica's logs of an attempt are.
func (d jobDir) logDir(role string, replica, n int) string {
	return d.file("logs", store.EncodeRun(role), strconv.Itoa(replica), strconv.Itoa(n))
}

// plan reads the plan back.
func (d jobDir) plan() (*runner.Plan, error) {
	body, err := os.ReadFile(d.file("plan.json"))
	if err != nil {
		return nil, fmt.Errorf("read plan of Slurm job: %w", err)
	}
	return runner.ReadPlan(body)
}

// attempts reads the attempts that began, in order.
func (d jobDir) attempts() ([]attempt, error) {
	names, err := os.ReadDir(d.file("attempts"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read attempts of Slurm job: %w", err)
	}
	var list []attempt
	for _, name := range names {
		n, err := strconv.Atoi(name.Name())
		if err != nil || n < 1 {
			continue
		}
		a, err := readJSON[attempt](d.attemptFile(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is just about to be
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b attempt) int { return a.Number - b.Number })
	return list, nil
}

// tasks lists the tasks of an array that began, in order.
func (d jobDir) tasks() []string {
	names, _ := os.ReadDir(d.file("tasks"))
	var list []string
	for _, name := range names {
		list = append(list, name.Name())
	}
	slices.SortFunc(list, compareTasks)
	return list
}

// readJSON reads a record. One that is not there is fs.ErrNotExist, one that cannot
// be understood store.ErrCorrupt.
func readJSON[T any](file string) (T, error) {
	var v T
	body, err := os.ReadFile(file)
	if err != nil {
		return v, fmt.Errorf("read record: %w", err)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, &store.Error{Op: "read record", Key: file, Kind: store.ErrCorrupt, Err: err}
	}
	return v, nil
}

// writeJSON writes a record whole or not at all, making its directory; when it
// returns nil the record outlives a power failure.
func writeJSON(file string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := writeDurable(file, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// writeDurable writes beside the file's place, syncs, and renames.
func writeDurable(file string, body []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(body)
	for _, step := range []func() error{func() error { return temp.Chmod(mode) }, temp.Sync} {
		if err == nil {
			err = step()
		}
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return syncDir(filepath.Dir(file))
}

// syncDir makes the names in a directory durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems refuse it for directories
	return d.Close()
}
