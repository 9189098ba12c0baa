package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const emitHelp = `Tell of recorded runs as OpenLineage events: START, then COMPLETE, FAIL or ABORT, or
RUNNING for one that goes on. Told again, they are the same events.

Where they go: --url or --file; else as OPENLINEAGE_URL, OPENLINEAGE_ENDPOINT,
OPENLINEAGE_API_KEY and OPENLINEAGE__TRANSPORT__TYPE (http, file, console) and its
like say; else to stdout, one event a line. OPENLINEAGE_DISABLED=true sends nothing.
Jobs are in the namespace of --namespace or OPENLINEAGE_NAMESPACE, else "default".`

// emission is what emit prints as JSON; fields are only ever added.
type emission struct {
	Runs   int    `json:"runs"`
	Events int    `json:"events"`
	To     string `json:"to"` // the server or file
}

// emitting is what emit was asked for.
type emitting struct {
	url, file, namespace string
}

func newOpenLineageEmit(a *app) *cobra.Command {
	var e emitting
	c := &cobra.Command{
		Use:   "emit RUN...",
		Short: "tell a server or a file of recorded runs",
		Long:  emitHelp,
		Example: `  heirloom openlineage emit train-x7f2
  heirloom openlineage emit train-x7f2 eval-k2 --url http://marquez:5000
  OPENLINEAGE_URL=https://lineage.example OPENLINEAGE_API_KEY=… heirloom openlineage emit train-x7f2
  heirloom openlineage emit train-x7f2 --file events.jsonl`,
		Args:              atLeastOne("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(c *cobra.Command, args []string) error { return a.runEmit(c, args, e) },
	}
	flags := c.Flags()
	flags.StringVar(&e.url, "url", "", "the server, `http://HOST[:PORT]`")
	flags.StringVar(&e.file, "file", "", "add to this `FILE` instead, one event a line")
	flags.StringVar(&e.namespace, "namespace", "", "the `NAMESPACE` of jobs (OPENLINEAGE_NAMESPACE)")
	return c
}

func (a *app) runEmit(c *cobra.Command, args []string, e emitting) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	transport, err := a.transport(c, e)
	if err != nil {
		return err
	}
	if transport.Disabled {
		a.note("OPENLINEAGE_DISABLED is set: nothing is sent")
		return nil
	}
	sender, err := openlineage.New(transport, a.stdout, time.Now)
	if err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	var runs []*tracker.Run
	for _, text := range args { // all are found before anything is sent
		run, err := p.wholeRun(c.Context(), text)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	sent := emission{Runs: len(runs), To: cmp.Or(transport.File, store.RedactURL(transport.URL))}
	if sent.Events, err = a.emit(c.Context(), p, sender, runs, e.namespace); err != nil {
		return err
	}
	if sent.To == "" {
		return nil // they stand on stdout
	}
	if a.wantsJSON() {
		return a.printJSON(sent)
	}
	a.note("told %s of %s by %s", sent.To, count(sent.Runs, "run"), count(sent.Events, "event"))
	return nil
}

// transport is where events go.
func (a *app) transport(c *cobra.Command, e emitting) (openlineage.Transport, error) {
	if e.url != "" && e.file != "" {
		return openlineage.Transport{}, usagef(c.CommandPath(), "--url and --file contradict each other")
	}
	t, err := openlineage.FromEnviron(a.environ)
	if e.file != "" && (err == nil || !t.Disabled) {
		return openlineage.Transport{Disabled: t.Disabled, File: e.file, Append: true}, nil
	}
	if err != nil && (e.url == "" || !errors.Is(err, store.ErrUnsupported)) {
		return t, err
	}
	if e.url != "" {
		t.URL, t.File = e.url, ""
	}
	if config := a.getenv("OPENLINEAGE_CONFIG"); config != "" && t.URL == "" && t.File == "" && !t.Disabled {
		a.warn("OPENLINEAGE_CONFIG names %s, which is not read; --url, --file or the variables of OPENLINEAGE__TRANSPORT__ say where events go", config)
	}
	return t, nil
}

// wholeRun reads the run that text names.
func (p place) wholeRun(ctx context.Context, text string) (*tracker.Run, error) {
	id, err := p.findRun(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.tracker.Run(ctx, id)
}

// emit sends the events of runs, in the order in which they were named.
func (a *app) emit(ctx context.Context, p place, sender openlineage.Sender, runs []*tracker.Run, namespace string) (events int, err error) {
	options := a.eventOptions(ctx, p, namespace)
	for _, run := range runs {
		for _, e := range openlineage.Events(run, options) {
			if err := sender.Send(ctx, e); err != nil {
				return events, err
			}
			events++
		}
	}
	return events, nil
}

// eventOptions are how runs are written as events here. Runs that others name are read once.
func (a *app) eventOptions(ctx context.Context, p place, namespace string) openlineage.Options {
	known := map[tracker.RunID]*tracker.Run{}
	tables := map[string]*openlineage.Table{}
	return openlineage.Options{
		Table: func(fingerprint string) *openlineage.Table {
			table, ok := tables[fingerprint]
			if !ok {
				table = a.eventTable(ctx, p, fingerprint)
				tables[fingerprint] = table
			}
			return table
		},
		Namespace: cmp.Or(namespace, a.getenv("OPENLINEAGE_NAMESPACE")),
		Producer:  a.producer(),
		Workspace: workspaceHost(a.getenv("DATABRICKS_HOST")),
		Lookup: func(id tracker.RunID) *tracker.Run {
			if run, ok := known[id]; ok {
				return run
			}
			run, err := p.tracker.Run(ctx, id)
			if err != nil && !errors.Is(err, store.ErrNotExist) {
				a.warn("%v; what it made is named by its id", err)
			}
			known[id] = run
			return run
		},
	}
}

// producer is this program at its version.
func (a *app) producer() string {
	v := readVersion()
	at := cmp.Or(v.Commit, v.Version)
	if v.Version == "devel" && v.Commit == "" {
		return "https://github.com/heirloom-ml/heirloom"
	}
	return "https://github.com/heirloom-ml/heirloom/tree/" + at
}

// workspaceHost is the host of a Databricks workspace, as datasets are named by it.
func workspaceHost(text string) string {
	_, host, isURL := strings.Cut(text, "://")
	if !isURL {
		host = text
	}
	host, _, _ = strings.Cut(host, "/")
	return host
}
