package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// inputFlags say how heirloom itself reads inputs.
type inputFlags struct {
	options   dataset.InputOptions
	files     dataset.FileOptions
	delimiter string
	schema    string
}

// inputFlagNames are those that a command has no use for.
func inputFlagNames() []string {
	return []string{"input-format", "schema", "delimiter", "null", "no-header", "partition-by", "compression"}
}

func (f *inputFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.options.Format, "input-format", "", "`FORMAT` of the inputs: csv, tsv, jsonl, parquet or arrow (default: by name and first bytes)")
	flags.StringVar(&f.schema, "schema", "", "columns as `NAME:TYPE,…`, or the file that holds them (default: from the inputs)")
	flags.StringVar(&f.delimiter, "delimiter", "", "`BYTE` between the fields of CSV")
	flags.StringArrayVar(&f.options.Nulls, "null", nil, "`TEXT` that stands for null in CSV; may be repeated (default: the empty field)")
	flags.BoolVar(&f.options.NoHeader, "no-header", false, "the first row of CSV holds values; wants --schema")
	flags.BoolVar(&f.options.Hash, "hash", false, "know inputs by their bytes, which are read for it, not by what their store calls their version")
	flags.StringSliceVar(&f.files.PartitionBy, "partition-by", nil, "`COLUMNS` whose values become directories")
	flags.StringVar(&f.files.Compression, "compression", "", "`CODEC` zstd or snappy (default zstd)")
	register(c, "input-format", fixed([]string{"csv", "tsv", "jsonl", "parquet", "arrow"}))
	register(c, "compression", fixed([]string{"zstd", "snappy"}))
}

func (f *inputFlags) check(c *cobra.Command) (err error) {
	if len(f.delimiter) > 1 {
		return usagef(c.CommandPath(), "--delimiter %q is not one byte", f.delimiter)
	}
	if f.delimiter != "" {
		f.options.Delimiter = f.delimiter[0]
	}
	text := f.schema
	if text == "" {
		return nil
	}
	if body, err := os.ReadFile(text); err == nil {
		text = strings.TrimSpace(string(body))
	}
	f.options.Schema, err = dataset.ParseSchema(text)
	return err
}

// open finds the inputs; "-" is standard input. The caller closes them.
func (f *inputFlags) open(ctx context.Context, a *app, found *spots, texts []string) (*dataset.Inputs, error) {
	var list []dataset.Input
	for _, text := range texts {
		if text == "-" {
			list = append(list, dataset.Input{Reader: a.stdin})
			continue
		}
		more, err := a.datasetInput(ctx, found, text)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", store.RedactURL(text), err)
		}
		list = append(list, more...)
	}
	inputs, err := dataset.OpenInputs(ctx, list, &f.options)
	if errors.Is(err, store.ErrNotExist) {
		return nil, &advised{err: err, advice: "an input is looked for in this directory, then in the store"}
	}
	return inputs, err
}

// datasetInput is a file or directory, or the splits of a dataset by its name.
func (a *app) datasetInput(ctx context.Context, found *spots, text string) ([]dataset.Input, error) {
	if ref, err := dataset.ParseRef(text); err == nil && ref.Version != "" {
		d, _, err := dataset.Lookup(ctx, found.store, text)
		if err != nil {
			return nil, err
		}
		var list []dataset.Input
		for _, name := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test} {
			if split, ok := d.Commit.Splits[name]; ok {
				at, err := found.at(ctx, split.Location(found.store))
				if err != nil {
					return nil, err
				}
				list = append(list, dataset.Input{Store: at.store, Key: at.key})
			}
		}
		return list, nil
	}
	at, err := a.inputSpot(ctx, found, text)
	return []dataset.Input{{Store: at.store, Key: at.key}}, err
}
