package slurm

import (
	"context"
	"strings"
)

// accountFormat asks for what parseAccount reads.
const accountFormat = "JobID,State,ExitCode,Submit,Start,End,User,NodeList,Comment,JobName"

const accountFields = 10

// parseAccount reads what sacct printed. Steps (123.batch) are passed over. The
// error has kind store.ErrCorrupt and quotes the line that is none.
func parseAccount(text string) ([]job, error) {
	var jobs []job
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.SplitN(line, "|", accountFields)
		if len(f) < accountFields || !isState(firstWord(f[1])) {
			return jobs, garbage("sacct", line)
		}
		if strings.Contains(f[0], ".") {
			continue
		}
		if !isJobID(f[0]) {
			return jobs, garbage("sacct", line)
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
		jobs = append(jobs, j)
	}
	return jobs, nil
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
