package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	child "github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
)

// program is a command that writes a dataset.
type program struct {
	app    *app
	place  place
	spec   dataset.Spec
	engine string // in whose dialect its URLs are; "" = ours
	args   []string
}

// produce runs the command, and takes up what it wrote: on local disk where it lies, else what it left in a directory
// of this machine, or has put into the store itself.
func (p *program) produce(ctx context.Context, w *dataset.Writer) (err error) {
	scratch, err := os.MkdirTemp("", "heirloom-dataset-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	dirs, environ, err := p.prepare(w, filepath.Join(scratch, "data"))
	if err != nil {
		return err
	}
	if err := p.run(ctx, filepath.Join(scratch, "logs"), environ); err != nil {
		return err
	}
	for _, split := range p.spec.Splits() {
		if err := p.take(ctx, w, split, dirs[split]); err != nil {
			return err
		}
		if len(w.Files(split)) == 0 {
			return invalidf("%s wrote no Parquet into $%s; nothing was staged", p.args[0], splitVariable(split))
		}
	}
	return nil
}

// splitVariable names the directory of a split in the command's environment.
func splitVariable(split dataset.Name) string {
	if split == dataset.Train {
		return "HEIRLOOM_DATASET_DIR"
	}
	return "HEIRLOOM_DATASET_" + strings.ToUpper(string(split)) + "_DIR"
}

// prepare makes the directories of the splits and says them in the command's environment. One that is not in the
// store itself is below scratch.
func (p *program) prepare(w *dataset.Writer, scratch string) (map[dataset.Name]string, []string, error) {
	dirs, environ := map[dataset.Name]string{}, p.environ()
	for _, split := range p.spec.Splits() {
		key, err := w.Dir(split)
		if err != nil {
			return nil, nil, err
		}
		dir, inPlace := p.place.store.LocalPath(key)
		if !inPlace {
			dir = filepath.Join(scratch, string(split))
			dirs[split] = dir
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, nil, err
		}
		url, err := dialect(p.place.store.KeyURL(key), p.engine)
		if err != nil {
			return nil, nil, err
		}
		part := strings.ToUpper(string(split))
		if split == dataset.Train {
			environ = append(environ, "HEIRLOOM_DATASET_DIR="+dir, "HEIRLOOM_DATASET_URL="+url)
		}
		environ = append(environ, "HEIRLOOM_DATASET_"+part+"_DIR="+dir, "HEIRLOOM_DATASET_"+part+"_URL="+url)
	}
	return dirs, environ, nil
}

// environ is ours without what another dataset left in it, and with the seed.
func (p *program) environ() []string {
	environ := slices.DeleteFunc(p.app.surroundings(p.place), func(entry string) bool { return strings.HasPrefix(entry, "HEIRLOOM_DATASET_") })
	return append(environ, fmt.Sprintf("HEIRLOOM_DATASET_SEED=%d", p.spec.Seed))
}

// run runs the command until it has ended. With --json what it prints goes to stderr.
func (p *program) run(ctx context.Context, logs string, environ []string) error {
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	dir, err := p.app.workdir()
	if err != nil {
		return err
	}
	proc, err := child.Start(child.Spec{
		Args: p.args, Dir: dir, Env: environ, LogDir: logs, Stdin: p.app.stdin, Stdout: p.app.stderr, Stderr: p.app.stderr,
	})
	if err != nil {
		return err
	}
	exit, err := proc.Wait(ctx)
	proc.Drain(5 * time.Second)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case exit.Code != 0:
		p.app.note("heirloom: %s ended with exit code %d; nothing was staged", p.args[0], exit.Code)
		return jobExit{code: exit.Code}
	}
	return nil
}

// take takes up one split. dir is where it was written, "" if that is in the store itself.
func (p *program) take(ctx context.Context, w *dataset.Writer, split dataset.Name, dir string) error {
	if dir != "" {
		at, err := store.Open(ctx, dir, nil)
		if err != nil {
			return err
		}
		if err := errors.Join(w.Import(ctx, split, at, ""), at.Close()); err != nil {
			return err
		}
		key, err := w.Dir(split)
		if err != nil || len(w.Files(split)) > 0 {
			return err
		}
		p.app.note("heirloom: nothing in %s; looking in %s", dir, p.place.store.KeyURL(key))
	}
	return w.TakeUp(ctx, split)
}

// engines are those whose dialect of addresses is known.
func engines() []string {
	return []string{string(dataset.Spark), string(dataset.FSSpec), string(dataset.DuckDB)}
}

// dialect is a canonical URL as an engine writes it; "" is ours.
func dialect(url, engine string) (string, error) {
	address, err := dataset.Engine(engine).Address(url)
	if errors.Is(err, store.ErrUnsupported) {
		return "", &advised{err: err, advice: "copy it with heirloom store get, or read it with fsspec"}
	}
	return address, err
}
