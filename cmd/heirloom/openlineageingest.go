package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store"
)

const ingestHelp = `Record runs of other tools (Spark, dbt, Airflow, …) from their OpenLineage events.

A FILE holds one event a line, or a JSON array of them; "-" is stdin. All events of
one run make one run here, openlineage://NAMESPACE/UUID: what it read are its
inputs, what it wrote its artifacts, and lineage leads from the one to the other over
the runs of all tools. Facets are kept as metadata.

Events may come twice and in any order: what they add up to is the same. What is no
event is named by its line, the others are recorded, and the exit code is 6.`

// ingested is what ingest prints as JSON; fields are only ever added.
type ingested struct {
	Events     int       `json:"events"`      // that tell of runs
	Known      int       `json:"known"`       // of these, those that were recorded before
	Runs       int       `json:"runs"`        // that they tell of
	Recorded   int       `json:"recorded"`    // of these, those that this store's own launcher recorded: left as they are
	WithoutRun int       `json:"without_run"` // events of jobs and datasets, of which nothing is recorded
	Bad        []badLine `json:"bad"`         // what is no event
}

// badLine is a place in a file that holds no event.
type badLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func newOpenLineageIngest(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ingest FILE|-...",
		Short: "record runs of other tools from their events",
		Long:  ingestHelp,
		Example: `  heirloom openlineage ingest spark-events.jsonl
  kcat -C -e -t openlineage | heirloom openlineage ingest -`,
		Args:              atLeastOne("FILE"),
		ValidArgsFunction: files,
		RunE:              func(c *cobra.Command, args []string) error { return a.runIngest(c, args) },
	}
}

func (a *app) runIngest(c *cobra.Command, args []string) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	g := openlineage.NewIngest(p.tracker)
	done := ingested{Bad: []badLine{}}
	for _, file := range args {
		if err := a.ingestFile(c.Context(), g, file, &done); err != nil {
			return errors.Join(g.Flush(c.Context()), err)
		}
	}
	if err := g.Flush(c.Context()); err != nil {
		return err
	}
	return a.printIngested(done, g.Report())
}

// ingestFile adds the events of one file. What is none becomes a warning.
func (a *app) ingestFile(ctx context.Context, g *openlineage.Ingest, name string, done *ingested) error {
	in := a.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	err := openlineage.Each(in, func(line int, body []byte) error {
		err := g.Add(ctx, body)
		if !errors.Is(err, store.ErrInvalid) {
			return err
		}
		bad := badLine{File: name, Line: line, Reason: plainReason(err)}
		done.Bad = append(done.Bad, bad)
		a.warn("%s:%d: %s", bad.File, bad.Line, bad.Reason)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read events of %s: %w", name, err)
	}
	return nil
}

// plainReason is an error without the operation.
func plainReason(err error) string {
	var e *store.Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (a *app) printIngested(done ingested, r openlineage.Report) error {
	done.Events, done.Known, done.Runs, done.Recorded, done.WithoutRun = r.Events, r.Known, r.Runs, r.Recorded, r.WithoutRun
	if a.wantsJSON() {
		if err := a.printJSON(done); err != nil {
			return err
		}
	} else {
		a.note("%s of %s recorded, %d of them known already", count(r.Events, "event"), count(r.Runs, "run"), r.Known)
		if r.Recorded > 0 {
			a.note("%s of this store's own left as they are", count(r.Recorded, "run"))
		}
		if r.WithoutRun > 0 {
			a.note("%s of jobs and datasets tell of no run, and are passed over", count(r.WithoutRun, "event"))
		}
	}
	if n := len(done.Bad); n > 0 {
		return &kindError{text: count(n, "line") + " held no event; all others are recorded", kind: store.ErrCorrupt}
	}
	return nil
}
