package slurm

import (
	"context"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// queueFormat asks for what parseQueue reads. What may hold a bar stands last:
// leader, id, task, state, submitted, started, ended, user, nodes, reason, comment, name.
const queueFormat = "%F|%i|%K|%T|%V|%S|%e|%u|%N|%r|%k|%j"

const queueFields = 12

// parseQueue reads what squeue printed. The error has kind store.ErrCorrupt and
// quotes the line that is none.
func parseQueue(text string) ([]job, error) {
	var jobs []job
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		j, ok := parseQueueLine(line)
		if !ok {
			return jobs, garbage("squeue", line)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

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

// garbage is the error for output that is not what the program should print.
func garbage(program, line string) error {
	const most = 80
	if len(line) > most {
		line = line[:most] + "…"
	}
	return &store.Error{Op: "read answer of " + program, Kind: store.ErrCorrupt,
		Err: fmt.Errorf("%s printed %q, which cannot be understood", program, store.Redact(line))}
}

// queue asks squeue for jobs. Jobs that it does not know are none, not an error.
func (c *client) queue(ctx context.Context, args ...string) ([]job, error) {
	out, err := c.run(ctx, "squeue", append([]string{"--noheader", "--states=all", "--format=" + queueFormat}, args...)...)
	if unknownJob(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseQueue(out)
}
