package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const datasetStageHelp = `Give the dataset that is made of these inputs, in this way: at once if it is there,
else made, by exactly one of all that ask for it at once, on any machine. The others
wait, and take over should the one that makes it die.

Without COMMAND heirloom reads the inputs itself: CSV, JSON lines, Parquet and Arrow,
files, directories, URLs, datasets, or - for standard input. It divides their rows by
--val and --test, the same for the same --seed.

A dataset is known by its inputs (what their store calls their version, with --hash
their bytes; or datasets by NAME@VERSION), by all flags but --name, and by COMMAND.
What else changes its rows, such as the version of the code, goes into --option.

COMMAND, any program, writes Parquet files below $HEIRLOOM_DATASET_DIR, which is there
and empty; with --val and --test also below $HEIRLOOM_DATASET_VAL_DIR and
$HEIRLOOM_DATASET_TEST_DIR. An engine that writes to the store itself (Spark) writes
to $HEIRLOOM_DATASET_URL, $HEIRLOOM_DATASET_VAL_URL and $HEIRLOOM_DATASET_TEST_URL,
as --for says it, in its mode "append" or "overwrite". When COMMAND has ended well,
every file is read and its footer checked, and the dataset is committed. Should it
fail, nothing is, and its exit code is ours.`

const datasetStageExample = `  heirloom dataset stage clicks.csv --val 0.1 --test 0.1 --labels bought --seed 7
  heirloom dataset stage raw.csv --name clicks@2026-11-20 -- python prepare.py
  heirloom dataset stage s3://lake/raw/ --val 0.1 --seed 7 --for spark -- spark-submit split.py
  heirloom dataset stage clicks@latest --option code=v3 -- duckdb -c "$SQL"`

// stageFlags are what stage is asked for.
type stageFlags struct {
	name             string
	features, labels []string
	options          []string
	val              string
	split            dataset.Split
	seed             uint64
	lease            time.Duration
	engine           string
	input            inputFlags
}

func newDatasetStage(a *app) *cobra.Command {
	var f stageFlags
	c := &cobra.Command{
		Use:     "stage INPUT... [flags] [-- COMMAND [ARG...]]",
		Short:   "make a dataset once, or find it",
		Long:    datasetStageHelp,
		Example: datasetStageExample,

		ValidArgsFunction: files,
		RunE: func(c *cobra.Command, args []string) error {
			inputs, command := args, []string(nil)
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				inputs, command = args[:dash], args[dash:]
			}
			if len(inputs) == 0 {
				return usagef(c.CommandPath(), "missing INPUT")
			}
			if err := f.check(c, command); err != nil {
				return err
			}
			return a.datasetStage(c, inputs, command, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "`NAME[@VERSION]` for people; without a version the next number")
	flags.StringSliceVar(&f.features, "features", nil, "`COLUMNS` that the dataset must have")
	flags.StringSliceVar(&f.labels, "labels", nil, "`COLUMNS` that it must have as labels")
	flags.StringArrayVar(&f.options, "option", nil, "`K=V`, what else changes the rows; may be repeated")
	flags.StringVar(&f.val, "val", "", "`FRACTION` for validation, or the column that says so where it is true or above 0")
	flags.Float64Var(&f.split.Test, "test", 0, "`FRACTION` for the test")
	flags.StringVar(&f.split.Stratify, "stratify", "", "`COLUMN` whose values keep their shares in every split")
	flags.Uint64Var(&f.seed, "seed", 0, "`N`, the seed of what is drawn at random")
	f.lease = time.Minute
	ageFlag(flags, &f.lease, "lease", "`TIME` without a sign of life after which others take over")
	flags.StringVar(&f.engine, "for", "", "`ENGINE` whose dialect the URLs are in: spark, fsspec or duckdb")
	register(c, "for", fixed(engines()))
	f.input.register(c)
	return c
}

func (f *stageFlags) check(c *cobra.Command, command []string) error {
	if f.val != "" {
		fraction, err := strconv.ParseFloat(f.val, 64)
		if err == nil {
			f.split.Val = fraction
		} else {
			f.split.Column = f.val
		}
	}
	switch {
	case f.lease < time.Second:
		return usagef(c.CommandPath(), "--lease wants a second or more")
	case f.engine != "" && !slices.Contains(engines(), f.engine):
		return usagef(c.CommandPath(), "--for %q is none of %s", f.engine, strings.Join(engines(), ", "))
	}
	for _, name := range inputFlagNames() {
		if len(command) > 0 && c.Flag(name).Changed {
			return usagef(c.CommandPath(), "--%s is for inputs that heirloom reads itself, without COMMAND", name)
		}
	}
	return f.input.check(c)
}

// stageGarbage keeps the peak of memory nearer to what is in use, for a few hundredths of the time.
const stageGarbage = 60

// datasetStage is the command.
func (a *app) datasetStage(c *cobra.Command, inputs, command []string, f stageFlags) (err error) {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(stageGarbage)
	}
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	var ref dataset.Ref
	if f.name != "" {
		if ref, err = dataset.ParseRef(f.name); err != nil {
			return err
		}
	}
	job, err := a.stageJob(c.Context(), found, inputs, command, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, job.close()) }()
	var d *dataset.Dataset
	var hit bool
	err = a.inRun(c.Context(), func(run *tracker.AppRun) (err error) {
		d, hit, ref, err = a.stageAs(c.Context(), found.store, job, ref, f, run)
		return err
	})
	if err != nil {
		return err
	}
	return a.printStaged(newStaged(found.store, d, hit, ref), format)
}

// stageJob is what is to be staged, and by whom.
type stageJob struct {
	spec    dataset.Spec
	produce dataset.Produce
	close   func() error
}

// stageJob puts together what inputs, flags and command say. The caller closes it.
func (a *app) stageJob(ctx context.Context, found *spots, inputs, command []string, f stageFlags) (stageJob, error) {
	job := stageJob{close: func() error { return nil }, spec: dataset.Spec{
		Features: f.features, Labels: f.labels, Split: f.split, Seed: f.seed, Files: f.input.files, Options: map[string]string{},
	}}
	options, err := parsePairs(f.options, true)
	if err != nil {
		return stageJob{}, err
	}
	for key, value := range options.All() {
		job.spec.Options["option."+key], _ = value.(string)
	}
	if len(command) > 0 {
		return a.commandJob(ctx, found, job, inputs, command, f)
	}
	read, err := f.input.open(ctx, a, found, inputs)
	if err != nil {
		return stageJob{}, err
	}
	job.spec.Sources, job.produce, job.close = read.Sources(), read.Produce, read.Close
	maps.Copy(job.spec.Options, read.Options())
	return job, nil
}

// commandJob is a job in which a command makes the rows.
func (a *app) commandJob(ctx context.Context, found *spots, job stageJob, inputs, command []string, f stageFlags) (stageJob, error) {
	for _, text := range inputs {
		source, err := a.datasetSource(ctx, found, text, f.input.options.Hash)
		if err != nil {
			return stageJob{}, fmt.Errorf("input %s: %w", store.RedactURL(text), err)
		}
		job.spec.Sources = append(job.spec.Sources, source)
	}
	line, err := json.Marshal(command)
	if err != nil {
		return stageJob{}, err
	}
	job.spec.Options["command"] = string(line)
	program := &program{app: a, place: found.place, spec: job.spec, engine: f.engine, args: command}
	job.produce = program.produce
	return job, nil
}

// stageAs stages, names, and records. A name that means another dataset is told before anything is made.
func (a *app) stageAs(ctx context.Context, s *store.Store, job stageJob, ref dataset.Ref, f stageFlags, run *tracker.AppRun) (*dataset.Dataset, bool, dataset.Ref, error) {
	fingerprint, err := job.spec.Fingerprint()
	if err != nil {
		return nil, false, ref, err
	}
	known := false
	if ref.Name != "" {
		err := dataset.CheckLabel(ctx, s, ref, fingerprint)
		if known = err == nil; err != nil && !errors.Is(err, store.ErrNotExist) {
			return nil, false, ref, err
		}
	}
	stager := dataset.Stager{Lease: f.lease, Waiting: a.waitNote()}
	if run != nil {
		stager.Maker = &dataset.Maker{Run: run.ID(), Artifact: dataset.ArtifactName(ref, fingerprint)}
	}
	d, hit, err := stager.Stage(ctx, s, job.spec, job.produce)
	if err != nil {
		return nil, false, ref, err
	}
	if ref.Name != "" && !known {
		if ref, err = dataset.SetLabel(ctx, s, ref, fingerprint); err != nil {
			return nil, false, ref, err
		}
	}
	switch {
	case run == nil:
	case hit:
		err = d.RecordUse(ctx, s, run, ref)
	default:
		err = d.RecordMade(ctx, s, run, job.spec)
	}
	return d, hit, ref, err
}

// staged is a dataset as stage prints it; fields are only ever added.
type staged struct {
	Hit         bool                   `json:"hit"` // it was there already
	Fingerprint store.Digest           `json:"fingerprint"`
	Name        *string                `json:"name"` // NAME@VERSION; null = it was given none
	Splits      map[string]stagedSplit `json:"splits"`
}

type stagedSplit struct {
	Path  string `json:"path"` // full URL of the directory
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
}

func newStaged(s *store.Store, d *dataset.Dataset, hit bool, ref dataset.Ref) staged {
	out := staged{Hit: hit, Fingerprint: d.Commit.Fingerprint, Name: refText(ref), Splits: map[string]stagedSplit{}}
	for name, split := range d.Commit.Splits {
		out.Splits[string(name)] = stagedSplit{Path: split.Location(s), Rows: split.Rows, Bytes: split.Bytes, Files: split.Files}
	}
	return out
}

// printStaged prints where the splits lie.
func (a *app) printStaged(d staged, format render.Format) error {
	if format != render.Table {
		return render.Document(a.stdout, d, format)
	}
	verb, name := "staged", ""
	if d.Hit {
		verb = "found"
	}
	if d.Name != nil {
		name = " as " + *d.Name
	}
	a.note("heirloom: %s %.12s%s", verb, d.Fingerprint, name)
	return d.list().Write(a.stdout, format, a.style(a.stdout))
}

// list is the splits for people.
func (d staged) list() render.List {
	l := render.List{Key: "splits", Columns: []render.Column{
		{Name: "split"}, {Name: "rows", Right: true}, {Name: "bytes", Right: true}, {Name: "path"},
	}}
	for _, name := range []string{"train", "val", "test"} {
		if split, ok := d.Splits[name]; ok {
			l.Rows = append(l.Rows, []any{name, split.Rows, split.Bytes, split.Path})
		}
	}
	return l
}
