package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

// stdinRequest is what run --stdin reads; the names are TorchX's.
type stdinRequest struct {
	ComponentName string          `json:"component_name"`
	ComponentArgs json.RawMessage `json:"component_args"` // values by the names of parameters, or words
	Scheduler     string          `json:"scheduler"`
	SchedulerArgs map[string]any  `json:"scheduler_args"`
	DryRun        bool            `json:"dryrun"`
	Wait          bool            `json:"wait"`
	Log           bool            `json:"log"`
	Workspace     string          `json:"workspace"` // a directory to keep
	ParentRunID   string          `json:"parent_run_id"`
	TeeLogs       bool            `json:"tee_logs"` // the same as log
}

// readRequest reads a request of TorchX's form from stdin. Beside it only --dry-run and what is heirloom's own may be
// given on the line.
func (a *app) readRequest(c *cobra.Command, f *runFlags) ([]string, error) {
	for _, flag := range []string{"scheduler", "cfg", "wait", "log", "parent", "replicas", "max-retries"} {
		if c.Flags().Changed(flag) {
			return nil, usagef(c.CommandPath(), "--%s is said on stdin where --stdin is given", flag)
		}
	}
	body, err := io.ReadAll(io.LimitReader(a.stdin, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var r stdinRequest
	if err := d.Decode(&r); err != nil {
		return nil, invalidf("read the request on stdin: %v", err)
	}
	if r.ComponentName == "" || r.Scheduler == "" {
		return nil, invalidf("read the request on stdin: it needs component_name, scheduler and scheduler_args")
	}
	f.scheduler, f.parent = r.Scheduler, r.ParentRunID
	f.dryRun, f.wait, f.logs = f.dryRun || r.DryRun, r.Wait, r.Log || r.TeeLogs
	f.config = r.SchedulerArgs
	if r.Workspace != "" {
		f.workspaces = []string{r.Workspace}
	}
	args := []string{r.ComponentName}
	if len(r.ComponentArgs) == 0 {
		return args, nil
	}
	var words []string
	if json.Unmarshal(r.ComponentArgs, &words) == nil {
		return append(args, words...), nil
	}
	if err := json.Unmarshal(r.ComponentArgs, &f.values); err != nil {
		return nil, invalidf("read the request on stdin: component_args is neither an object nor a list of words")
	}
	maps.DeleteFunc(f.values, func(_ string, v any) bool { return v == nil })
	return slices.Clip(args), nil
}
