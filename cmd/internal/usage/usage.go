// Package usage measures what a command takes: time, processor and memory.
package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Variable names the file in which a binary that serves Measure tells how a command went. A binary that finds it set in
// its environment hands its arguments to Report.
const Variable = "BENCH_REPORT"

// saidAtMost is how many bytes of a command's outputs are kept, the last ones.
const saidAtMost = 400

// Usage is what a command took.
type Usage struct {
	Wall, CPU time.Duration
	Peak      int64  // bytes; 0 where the system does not tell
	Failure   string // "" if it ended well
	Said      string // the end of its outputs
}

// Measure runs a command to its end. It does so through a fresh process of this binary, because the memory of a process
// counts from its parent's at the start, and this one may have grown. environ is all of the command's. A command that
// fails is an error, beside what it took.
func Measure(ctx context.Context, args, environ []string) (u Usage, err error) {
	dir, err := os.MkdirTemp("", "usage")
	if err != nil {
		return u, err
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, "report")
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(slices.Clone(environ), Variable+"="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		return u, fmt.Errorf("%w: %s", err, out)
	}
	body, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(body, &u)
	}
	if err == nil && u.Failure != "" {
		err = errors.New(u.Failure)
	}
	return u, err
}

// Report runs a command and writes what it took to the file of that name.
func Report(ctx context.Context, args []string, report string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, Variable+"=") })
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	text := strings.TrimSpace(out.String())
	u := Usage{Wall: time.Since(begin), Said: text[max(0, len(text)-saidAtMost):]}
	if err != nil {
		u.Failure = err.Error() + ": " + u.Said
	}
	if state := cmd.ProcessState; state != nil {
		u.CPU = state.UserTime() + state.SystemTime()
		u.Peak = peak(state)
	}
	body, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return os.WriteFile(report, body, 0o600)
}
