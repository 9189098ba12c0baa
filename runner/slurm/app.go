package slurm

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// app is what the job directory says of an app that was submitted from here.
type app struct {
	handle runner.Handle // as it was recorded
	base   jobDir
	dir    jobDir // of the array's task that the handle names; else base
	task   string // "" = none
	plan   *runner.Plan
	sub    submitted
}

// open finds an app, or a task of an array, by its handle. The error has kind
// store.ErrNotExist where none of that name was submitted with this state directory.
func (s *Scheduler) open(h runner.Handle) (*app, error) {
	e, err := readJSON[entry](s.entryFile(h))
	task := ""
	if errors.Is(err, fs.ErrNotExist) {
		if i := strings.LastIndexByte(h.App, '_'); i > 0 {
			if digits, rest := leading(h.App[i+1:]); digits != "" && rest == "" {
				array := h
				array.App, task = h.App[:i], digits
				e, err = readJSON[entry](s.entryFile(array))
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknownApp(h)
	}
	if err != nil {
		return nil, err
	}
	a := &app{handle: e.Handle, base: jobDir(e.Dir), dir: jobDir(e.Dir).task(task), task: task}
	if task != "" {
		a.handle.App += "_" + task
	}
	if a.sub, err = readJSON[submitted](a.base.file("submitted.json")); err == nil {
		a.plan, err = a.base.plan()
	}
	if errors.Is(err, fs.ErrNotExist) { // it is being deleted, or submitting was cut short
		return nil, unknownApp(h)
	}
	if err == nil && task != "" && a.option("array") == "" {
		return nil, unknownApp(h)
	}
	return a, err
}

// option is the text of a run option.
func (a *app) option(name string) string {
	text, _ := a.plan.Options[name].(string)
	return text
}

// isArray says whether the app is an array as a whole.
func (a *app) isArray() bool { return a.task == "" && a.option("array") != "" }

// target is what scancel and scontrol call the job.
func (a *app) target() string {
	if a.task != "" {
		return a.sub.JobID + "_" + a.task
	}
	return a.sub.JobID
}

func unknownApp(h runner.Handle) error {
	return &store.Error{Op: "find Slurm job", Key: h.String(), Kind: store.ErrNotExist,
		Err: errText("no such app was submitted from here")}
}

func isGone(err error) bool { return errors.Is(err, store.ErrNotExist) }
