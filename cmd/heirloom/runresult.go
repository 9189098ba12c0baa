package main

import (
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// ranRun is a run that ended, as run --json prints it; fields are only ever added.
type ranRun struct {
	Run       tracker.RunID `json:"run"`
	State     tracker.State `json:"state"`
	ExitCode  int           `json:"exit_code"` // as a shell shows it: 128+n after signal n
	Signal    *string       `json:"signal"`    // "SIGKILL", …; null = the job exited by itself
	Store     string        `json:"store"`
	OutputDir string        `json:"output_dir"`
	Started   time.Time     `json:"started"`
	Ended     time.Time     `json:"ended"`
	Artifacts int           `json:"artifacts"` // how many were registered
	Warnings  []string      `json:"warnings"`
}

func newRanRun(r runner.Result, url, outputDir string) ranRun {
	ran := ranRun{
		Run: r.RunID, State: r.State, ExitCode: r.ExitCode, Store: url, OutputDir: outputDir,
		Started: r.Started.UTC(), Ended: r.Ended.UTC(), Artifacts: r.Artifacts, Warnings: append([]string{}, r.Warnings...),
	}
	if r.Signal != "" {
		ran.Signal = &r.Signal
	}
	return ran
}
