package slurm

import (
	"context"
	"strconv"
	"strings"
)

// parseJobs reads what scontrol -o show job printed, as parseLines does.
func parseJobs(text string) ([]job, error) { return parseLines("scontrol", text, parseJobLine) }

// parseJobLine reads the fields between the job's name and its command, neither of
// which can then be taken for one of them, and the comment behind.
func parseJobLine(line string) (job, bool) {
	user := strings.Index(line, " UserId=")
	if !strings.HasPrefix(line, "JobId=") || user < 0 {
		return job{}, false
	}
	head, body := line[:user], line[user:]
	if end := strings.Index(body, " Command="); end >= 0 {
		body = body[:end]
	}
	field := func(text, name string) string {
		_, rest, found := strings.Cut(" "+text, " "+name+"=")
		if !found {
			return ""
		}
		value, _, _ := strings.Cut(rest, " ")
		return unset(value)
	}
	j := job{
		Leader: field(head, "JobId"), State: firstWord(field(body, "JobState")), Reason: field(body, "Reason"), Nodes: field(body, "NodeList"),
		Submitted: timeOf(field(body, "SubmitTime")), Started: timeOf(field(body, "StartTime")), Ended: timeOf(field(body, "EndTime")),
	}
	j.ID = j.Leader
	if array := field(head, "ArrayJobId"); array != "" {
		j.Leader, j.Task = array, field(head, "ArrayTaskId")
		j.ID = array + "_" + j.Task
	}
	if leader := field(head, "HetJobId"); leader != "" {
		j.Leader, j.ID = leader, leader+"+"+field(head, "HetJobOffset")
	}
	j.User, _, _ = strings.Cut(field(body, "UserId"), "(")
	j.Restarts, _ = strconv.Atoi(field(body, "Restarts")) // absent in some versions
	j.Code, j.Signal, j.HasExit = exitOf(field(body, "ExitCode"))
	_, j.Name, _ = strings.Cut(head, " JobName=")
	if _, rest, ok := strings.Cut(line, " Comment="); ok {
		j.Comment, _, _ = strings.Cut(rest, "  ") // as Slurm ends it
	}
	return j, isJobID(j.Leader) && isState(j.State)
}

// show asks scontrol for a job, all its tasks and components.
func (c *client) show(ctx context.Context, id string) ([]job, error) {
	return c.jobs(ctx, parseJobLine, "scontrol", "--oneliner", "show", "job", id)
}
