package slurm

import (
	"context"
	"strings"
)

// accountFormat asks for what parseAccount reads.
const accountFormat = "JobID,State,ExitCode,Submit,Start,End,User,NodeList,Comment,JobName"

const accountFields = 10

// parseAccount reads what sacct printed, as parseLines does.
func parseAccount(text string) ([]job, error) { return parseLines("sacct", text, parseAccountLine) }

// parseAccountLine passes over steps (123.batch).
func parseAccountLine(line string) (job, bool) {
	f := strings.SplitN(line, "|", accountFields)
	if len(f) < accountFields || !isState(firstWord(f[1])) {
		return job{}, false
	}
	if strings.Contains(f[0], ".") {
		return job{}, true
	}
	j := job{
		ID: f[0], State: firstWord(f[1]), User: f[6], Nodes: unset(f[7]), Comment: unset(f[8]), Name: f[9],
		Submitted: timeOf(f[3]), Started: timeOf(f[4]), Ended: timeOf(f[5]),
	}
	j.Leader, _ = leading(j.ID)
	if rest := j.ID[len(j.Leader):]; strings.HasPrefix(rest, "_") {
		j.Task = rest[1:]
	}
	j.Code, j.Signal, j.HasExit = exitOf(f[2])
	return j, isJobID(f[0])
}

// account asks sacct for a job. Where accounting is off, or sacct absent, there is
// nothing to know and no error.
func (c *client) account(ctx context.Context, id string) ([]job, error) {
	out, err := c.run(ctx, "sacct", "--allocations", "--noheader", "--parsable2", "--jobs="+id, "--format="+accountFormat)
	if err != nil {
		return nil, nil //nolint:nilerr // it is asked last, and only adds to what our own records say
	}
	return parseAccount(out)
}
