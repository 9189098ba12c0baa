package main

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
)

const logsHelp = `Print the log of a job, each line with its role and replica before it. RUN may name
them, as in train-x7f2/trainer/0,1. -f waits for more until the job has ended.
Where the scheduler does not know the job, its logs are read from the store.

--since and --until take a time (2026-11-20T10:00:00Z) or how long ago (10m, 1d).
A progress bar that returns to the beginning of its line does so here too. What
the scheduler cannot do is an error. -o jsonl prints one document a line.`

// logsFlags are what logs is asked for.
type logsFlags struct {
	follow, noPrefix                  bool
	since, until, regex, stream, role string
	replicas                          []int
	attempt, tail                     int
}

func newLogs(a *app) *cobra.Command {
	var f logsFlags
	c := f.command(a)
	c.Flags().IntVar(&f.tail, "tail", 0, "only the last `N` lines of all; 0 = all")
	return c
}

// command is the command but for --tail, which means another thing in TorchX.
func (f *logsFlags) command(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "logs RUN[/ROLE[/REPLICA,...]]",
		Short:             "print the log of a job",
		Long:              logsHelp,
		Example:           "  heirloom logs -f train-x7f2\n  heirloom logs train-x7f2/trainer/0 --stream stderr --regex 'loss|error'\n  heirloom logs train-x7f2 --since 10m --tail 100",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(c *cobra.Command, args []string) error { return a.runLogs(c, args[0], *f) },
	}
	flags := c.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "wait for more until the job has ended")
	flags.StringVar(&f.since, "since", "", "not before this `TIME`, or so long ago")
	flags.StringVar(&f.until, "until", "", "before this `TIME`, or so long ago")
	flags.StringVar(&f.regex, "regex", "", "only lines that match `REGEX`")
	flags.StringVar(&f.stream, "stream", "", "`NAME` stdout, stderr or combined (default combined)")
	flags.StringVar(&f.role, "role", "", "only of the role `NAME`")
	flags.IntSliceVar(&f.replicas, "replica", nil, "only of the replica `N`; several with commas")
	flags.IntVar(&f.attempt, "attempt", 0, "only of the attempt `N`; 0 = all")
	flags.BoolVar(&f.noPrefix, "no-prefix", false, "without role and replica before each line")
	register(c, "stream", fixed([]string{"stdout", "stderr", "combined"}))
	return c
}

func (a *app) runLogs(c *cobra.Command, text string, f logsFlags) error {
	format, err := a.format([]render.Format{render.Table, render.JSONL, render.JSON})
	if err != nil {
		return err
	}
	name, err := f.split(text)
	if err != nil {
		return err
	}
	query, err := f.query(c, time.Now())
	if err != nil {
		return err
	}
	l, err := a.launched(c.Context(), name, "")
	if err != nil {
		return err
	}
	p := logPrinter{out: bufio.NewWriter(a.stdout), format: format, color: a.style(a.stdout).Color, plain: f.noPrefix, live: f.follow}
	err = p.print(a.logs(c.Context(), l, query), f.tail)
	return errors.Join(err, p.out.Flush())
}

// split takes role and replicas off RUN/ROLE/REPLICAS.
func (f *logsFlags) split(text string) (string, error) {
	_, _, whole := strings.Cut(text, "://")
	if whole {
		h, role, replicas, err := runner.ParseReplicas(text)
		if err != nil {
			return "", err
		}
		return h.String(), f.narrow(role, replicas)
	}
	name, _, found := strings.Cut(text, "/")
	if !found {
		return text, nil
	}
	_, role, replicas, err := runner.ParseReplicas("x://x/" + text)
	if err != nil {
		return "", invalidf("%q is not RUN, RUN/ROLE or RUN/ROLE/REPLICA,REPLICA", text)
	}
	return name, f.narrow(role, replicas)
}

// narrow takes a role and replicas that RUN names.
func (f *logsFlags) narrow(role string, replicas []int) error {
	if role != "" && f.role != "" && role != f.role {
		return invalidf("--role %s contradicts the role %s that RUN names", f.role, role)
	}
	if role != "" {
		f.role = role
	}
	f.replicas = append(f.replicas, replicas...)
	return nil
}

func (f *logsFlags) query(c *cobra.Command, now time.Time) (runner.LogQuery, error) {
	q := runner.LogQuery{Role: f.role, Attempt: f.attempt, Stream: runner.Stream(f.stream), Tail: f.follow}
	if len(f.replicas) > 0 {
		q.Replicas = f.replicas
	}
	if f.attempt < 0 || f.tail < 0 {
		return q, usagef(c.CommandPath(), "--attempt and --tail are 0 or more")
	}
	if f.tail > 0 && f.follow {
		return q, usagef(c.CommandPath(), "--tail and --follow contradict each other; --since says from when")
	}
	var err error
	if f.regex != "" {
		if q.Regex, err = regexp.Compile(f.regex); err != nil {
			return q, usagef(c.CommandPath(), "--regex: %v", err)
		}
	}
	for _, when := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", f.since, &q.Since}, {"until", f.until, &q.Until}} {
		if *when.to, err = moment(when.text, now); err != nil {
			return q, usagef(c.CommandPath(), "--%s: %v", when.flag, err)
		}
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, usagef(c.CommandPath(), "--since is not before --until")
	}
	return q, nil
}

// moment reads a time, or how long ago it was; "" is zero.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	var ago age
	if err := ago.Set(text); err != nil {
		return time.Time{}, fmt.Errorf("%q is neither a time, as 2026-11-20T10:00:00Z, nor how long ago, as 10m", text)
	}
	return now.Add(-time.Duration(ago)), nil
}

// logPrinter prints lines of logs.
type logPrinter struct {
	out                *bufio.Writer
	format             render.Format
	color, plain, live bool
}

// loggedLine is a line as logs -o jsonl prints it.
type loggedLine struct {
	Time    *time.Time `json:"time"`           // null = not known
	Task    string     `json:"task,omitempty"` // of an array
	Role    string     `json:"role"`
	Replica int        `json:"replica"`
	Attempt int        `json:"attempt"`
	Stream  string     `json:"stream"`
	Text    string     `json:"text"` // without its end
}

// print prints lines; of at most tail of them, if that is not 0, the last.
func (p *logPrinter) print(lines iter.Seq2[runner.LogLine, error], tail int) error {
	var kept []runner.LogLine
	for line, err := range lines {
		if err != nil {
			return err
		}
		if tail > 0 || p.format == render.JSON {
			if kept = append(kept, line); tail > 0 && len(kept) > 2*tail {
				kept = append(kept[:0], kept[len(kept)-tail:]...)
			}
			continue
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
	if tail > 0 && len(kept) > tail {
		kept = kept[len(kept)-tail:]
	}
	if p.format == render.JSON {
		return p.document(kept)
	}
	for _, line := range kept {
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

func (p *logPrinter) document(lines []runner.LogLine) error {
	docs := []loggedLine{}
	for _, line := range lines {
		docs = append(docs, logged(line))
	}
	return render.Document(p.out, map[string]any{"lines": docs}, render.JSON)
}

func logged(line runner.LogLine) loggedLine {
	doc := loggedLine{Task: line.Task, Role: line.Role, Replica: line.Replica, Attempt: line.Attempt, Stream: string(line.Stream), Text: strings.TrimRight(line.Text, "\r\n")}
	if !line.Time.IsZero() {
		utc := line.Time.UTC()
		doc.Time = &utc
	}
	return doc
}

// line prints one line. One that is to be written over keeps its carriage return, and one without an end gets one, so
// that the next begins where lines do.
func (p *logPrinter) line(line runner.LogLine) error {
	if p.format == render.JSONL {
		if err := render.Document(p.out, logged(line), render.JSONL); err != nil {
			return err
		}
	} else {
		text := line.Text
		if !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r") {
			text += "\n"
		}
		if _, err := p.out.WriteString(p.prefix(line) + text); err != nil {
			return err
		}
	}
	if p.live {
		return p.out.Flush()
	}
	return nil
}

func (p *logPrinter) prefix(line runner.LogLine) string {
	if p.plain {
		return ""
	}
	role := line.Role
	if line.Task != "" {
		role = line.Task + "/" + role
	}
	return replicaPrefix(role, line.Replica, p.color)
}

// replicaPrefix stands before each line of a replica, as in TorchX.
func replicaPrefix(role string, replica int, color bool) string {
	text := fmt.Sprintf("%s/%d", render.Sanitize(role), replica)
	if color {
		text = "\x1b[32m" + text + "\x1b[0m"
	}
	return text + " "
}
