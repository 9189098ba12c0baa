package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

func newStatus(a *app) *cobra.Command {
	var roles []string
	c := &cobra.Command{
		Use:   "status RUN",
		Short: "say where a job stands",
		Long: `Say where a job stands: its state, and that of each replica. The scheduler is
asked; where it does not know the job any more, the record of the run answers.
RUN is a handle, a run id, or a part of one that only it has. -o csv and jsonl
print the replicas, one a line.`,
		Example:           "  heirloom status train-x7f2\n  heirloom status slurm://torchx/train-x7f2 --role trainer -o json",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			return a.onJob(c.Context(), args[0], "", render.ListFormats, func(l *launched, format render.Format) error {
				status, _, err := a.status(c.Context(), l)
				if err == nil {
					status, err = ofRoles(status, roles)
				}
				if err != nil {
					return err
				}
				return a.printStatus(status, format)
			})
		},
	}
	c.Flags().StringSliceVar(&roles, "role", nil, "only the replicas of the role `NAME`; several with commas")
	return c
}

// ofRoles keeps the roles that are asked for, all if none is.
func ofRoles(status runner.AppStatus, roles []string) (runner.AppStatus, error) {
	if len(roles) == 0 {
		return status, nil
	}
	var known []string
	var kept []runner.RoleStatus
	for _, r := range status.Roles {
		if !slices.Contains(known, r.Role) { // each task of an array has it
			known = append(known, r.Role)
		}
		if slices.Contains(roles, r.Role) {
			kept = append(kept, r)
		}
	}
	for _, role := range roles {
		if !slices.Contains(known, role) {
			return status, &kindError{text: fmt.Sprintf("%s has no role %q, its roles are: %s", status.Handle, role, strings.Join(known, ", ")), kind: store.ErrNotExist}
		}
	}
	status.Roles = kept
	return status, nil
}

func (a *app) printStatus(status runner.AppStatus, format render.Format) error {
	if format == render.JSON {
		return a.printJSON(status)
	}
	list := replicas(status)
	if format == render.Table {
		for _, line := range statusLines(status) {
			fmt.Fprintf(a.stdout, "%-10s %s\n", line[0], render.Sanitize(store.Redact(line[1])))
		}
		if len(list.Rows) == 0 {
			return nil
		}
		fmt.Fprintln(a.stdout)
	}
	return a.printList(list, format)
}

// statusLines are what is said of the app as a whole, for people.
func statusLines(s runner.AppStatus) [][2]string {
	lines := [][2]string{{"run", s.Handle.String()}, {"state", string(s.State)}}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, [2]string{name, text})
		}
	}
	add("job", s.JobID)
	if s.NumRestarts > 0 {
		add("restarts", fmt.Sprint(s.NumRestarts))
	}
	add("submitted", stampOf(s.Submitted))
	add("started", stampOf(s.Started))
	add("ended", stampOf(s.Ended))
	add("message", s.Message)
	add("url", s.UIURL)
	if s.Error != nil {
		add("error", s.Error.Message+s.Error.Raw)
	}
	return lines
}

// replicas lists the replicas of an app, in the order of its roles.
func replicas(s runner.AppStatus) render.List {
	list := render.List{Key: "replicas", Columns: []render.Column{
		{Name: "role"}, {Name: "replica", Right: true}, {Name: "state"}, {Name: "exit_code", Right: true}, {Name: "signal"},
		{Name: "attempt", Right: true}, {Name: "hostname"}, {Name: "started"}, {Name: "ended"}, {Name: "reason"},
	}}
	array := slices.ContainsFunc(s.Roles, func(r runner.RoleStatus) bool { return r.Task != "" })
	if array {
		list.Columns = append(list.Columns, render.Column{Name: "task"})
	}
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			row := []any{role.Role, r.ID, r.State, nil, orNil(r.Signal), nil, orNil(r.Hostname), r.Started, r.Ended, orNil(store.Redact(reasonOf(r)))}
			if r.ExitCode != nil {
				row[3] = *r.ExitCode
			}
			if r.Attempt > 0 {
				row[5] = r.Attempt
			}
			if array {
				row = append(row, role.Task)
			}
			list.Rows = append(list.Rows, row)
		}
	}
	return list
}

// reasonOf is what is known of a replica's end beyond numbers.
func reasonOf(r runner.ReplicaStatus) string {
	reason := r.Reason
	if r.Error != nil {
		reason = strings.TrimPrefix(reason+": "+r.Error.Message+r.Error.Raw, ": ")
	}
	return reason
}

// stampOf is a time for people, "" if it is zero.
func stampOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
