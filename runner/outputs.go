package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const outputsAtOnce = 8

// registerOutputs stores and registers the files of the output directory, and
// what was named besides. Files come first, their records after, so that no
// record points to what is not there.
func (r *run) registerOutputs(ctx context.Context, exit process.Exit) error {
	if err := r.shareOutputs(); err != nil {
		return err
	}
	var files []string
	if r.Store.Layout().SavesRuns() {
		var err error
		if files, err = r.outputFiles(); err != nil {
			return fmt.Errorf("look through the output directory: %w", err)
		}
	}
	if err := r.mirror.finish(ctx, exit); err != nil {
		r.place.keep = true
		return fmt.Errorf("store the outputs, which are still in %s: %w", r.place.dir, err)
	}
	r.syncDirs(files)
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(outputsAtOnce)
	for _, rel := range files {
		group.Go(func() error {
			return r.register(ctx, &done, func() (tracker.Artifact, error) { return r.outputFile(ctx, rel) })
		})
	}
	names := newNames(files)
	for _, output := range r.job.Outputs {
		name := names.of(output)
		group.Go(func() error {
			return r.register(ctx, &done, func() (tracker.Artifact, error) { return r.describer().Describe(ctx, name, output) })
		})
	}
	err := group.Wait()
	r.result.Artifacts = int(done.Load())
	if err != nil {
		return fmt.Errorf("register the outputs: %w", err)
	}
	return nil
}

// register records an artifact. What cannot be described is a warning; that it
// cannot be recorded is an error.
func (r *run) register(ctx context.Context, done *atomic.Int64, describe func() (tracker.Artifact, error)) error {
	artifact, err := describe()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.warnf("output not registered: %v", err)
		return nil
	}
	if err := r.Tracker.AddArtifact(ctx, r.id, artifact); err != nil {
		return err
	}
	done.Add(1)
	return nil
}

// outputFiles lists the regular files of the output directory but for the logs,
// as slash paths, sorted.
func (r *run) outputFiles() ([]string, error) {
	var files []string
	root := r.place.dir
	if root == "" { // it is not known where they are
		return nil, nil
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && path == root {
				r.warnf("the job removed its output directory")
				return fs.SkipAll
			}
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch kind := d.Type(); {
		case d.IsDir() && (rel == r.place.logsRel || rel == reservedDir && !r.place.inPlace):
			return fs.SkipDir
		case kind.IsRegular():
			files = append(files, rel)
		case kind&fs.ModeSymlink != 0:
			r.checkLink(root, path, rel)
		case !d.IsDir():
			r.warnf("output %s is not a regular file and was passed over", rel)
		}
		return nil
	})
	return files, err
}

// checkLink warns of a link to what is not among the outputs.
func (r *run) checkLink(root, path, rel string) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		if root, err = filepath.EvalSymlinks(root); err == nil && strings.HasPrefix(target, root+string(filepath.Separator)) {
			return
		}
	}
	r.warnf("output %s is a link out of the output directory and was passed over", rel)
}

// syncDirs makes sure that the names of files in the store's own directory will
// outlive a power failure, as their records do; measure does so for the bytes.
func (r *run) syncDirs(files []string) {
	if !r.place.inPlace {
		return
	}
	top := filepath.Dir(filepath.Dir(r.place.dir))
	dirs := map[string]bool{}
	for _, rel := range files {
		for dir := filepath.Dir(filepath.Join(r.place.dir, rel)); !dirs[dir] && len(dir) >= len(top); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		if f, err := os.Open(dir); err == nil {
			_ = f.Sync() // some systems and file systems refuse it for directories
			_ = f.Close()
		}
	}
}

// outputFile describes a file of the output directory.
func (r *run) outputFile(ctx context.Context, rel string) (tracker.Artifact, error) {
	path := filepath.Join(r.place.dir, filepath.FromSlash(rel))
	a := tracker.Artifact{Name: artifactName(rel), Path: fileURL(path), Metadata: &pyjson.Object{}}
	key, err := store.ParseKey(string(r.place.key) + "/" + rel)
	switch {
	case err == nil:
		a.Path = r.Store.KeyURL(key)
		a.Metadata.Set(tracker.KeyKey, string(key))
	case !r.place.inPlace:
		return a, err
	}
	if err := r.describer().measure(ctx, path, rel, a.Metadata); err != nil {
		return a, err
	}
	a.Metadata.Set(tracker.KeyKind, kindOf(rel, r.Store.Layout().CheckpointFilename()))
	return a, nil
}
