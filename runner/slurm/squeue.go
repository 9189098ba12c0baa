package slurm

import (
	"context"
	"strings"
)

// queueFormat asks for what parseQueue reads. What may hold a bar stands last:
// leader, id, task, state, submitted, started, ended, user, nodes, reason, comment, name.
const queueFormat = "%F|%i|%K|%T|%V|%S|%e|%u|%N|%r|%k|%j"

const queueFields = 12

// parseQueue reads what squeue printed, as parseLines does.
func parseQueue(text string) ([]job, error) { return parseLines("squeue", text, parseQueueLine) }

func parseQueueLine(line string) (job, bool) {
	f := strings.SplitN(line, "|", queueFields-1)
	if len(f) < queueFields-1 {
		return job{}, false
	}
	bar := strings.LastIndexByte(f[10], '|') // a name with a bar shortens itself, not the comment, which is ours
	if bar < 0 {
		return job{}, false
	}
	j := job{
		Leader: f[0], ID: f[1], Task: unset(f[2]), State: firstWord(f[3]), User: f[7], Nodes: unset(f[8]), Reason: unset(f[9]),
		Comment: unset(f[10][:bar]), Name: f[10][bar+1:],
		Submitted: timeOf(f[4]), Started: timeOf(f[5]), Ended: timeOf(f[6]),
	}
	return j, isJobID(j.ID) && isJobID(j.Leader) && isState(j.State)
}

// queue asks squeue for jobs.
func (c *client) queue(ctx context.Context, args ...string) ([]job, error) {
	return c.jobs(ctx, parseQueueLine, "squeue", append([]string{"--noheader", "--states=all", "--format=" + queueFormat}, args...)...)
}
