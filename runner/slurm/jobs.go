package slurm

import (
	"context"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// parseLine reads one line of what a command prints of jobs. One that is not about a job
// gives one without an ID.
type parseLine func(line string) (j job, ok bool)

// parseLines reads what a command printed, one job a line. The error has kind
// store.ErrCorrupt and quotes the line that is none.
func parseLines(name, text string, parse parseLine) ([]job, error) {
	var jobs []job
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		j, ok := parse(line)
		if !ok {
			return jobs, garbage(name, line)
		}
		if j.ID != "" {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// jobs asks a command for jobs. Those that Slurm does not know are none, not an error.
func (c *client) jobs(ctx context.Context, parse parseLine, name string, args ...string) ([]job, error) {
	out, err := c.run(ctx, name, args...)
	if unknownJob(err) || strings.HasPrefix(out, "No jobs in the system") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseLines(name, out, parse)
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
