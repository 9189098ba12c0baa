package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

// gotCheckpoint is what checkpoint get prints as JSON.
type gotCheckpoint struct {
	Run    *string `json:"run"`
	Path   string  `json:"path"`
	URL    string  `json:"url"`
	Format string  `json:"format"`
	Step   *int64  `json:"step"`
	Files  int     `json:"files"`
	Size   int64   `json:"size"`
	Dest   string  `json:"dest"`
}

func newCheckpointGet(a *app) *cobra.Command {
	var latest, force bool
	var best string
	c := &cobra.Command{
		Use:   "get RUN[@STEP|#PATH]|PATH|URL DEST",
		Short: "fetch a checkpoint that is whole",
		Long: `Fetch one checkpoint, a file or a directory with all its files, to DEST: of a run the
latest, that of a step, that of a path, or the best by a metric; at a path or URL
likewise. DEST appears only when everything has arrived and was found whole. What is
already there is replaced only with --force.`,
		Example: `  heirloom checkpoint get train-x7f2 ./resume
  heirloom checkpoint get train-x7f2@1000 ./step-1000
  heirloom checkpoint get train-x7f2 best.ckpt --best val.loss
  heirloom checkpoint get s3://bucket/models/step-10 ./model`,
		Args:              takes("RUN DEST"),
		ValidArgsFunction: a.completeRunThenFile,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := parseMetric(c.CommandPath(), best)
			if err != nil {
				return err
			}
			if latest && m.name != "" {
				return usagef(c.CommandPath(), "--latest and --best contradict each other")
			}
			return a.checkpointGet(c, args[0], args[1], m, force)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&latest, "latest", false, "the one of the highest step (the default)")
	flags.StringVar(&best, "best", "", "the best by `METRIC`, METRIC:min or METRIC:max")
	flags.BoolVar(&force, "force", false, "replace what is at DEST")
	return c
}

// completeRunThenFile completes a run, then leaves the rest to the shell.
func (a *app) completeRunThenFile(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeRuns(c, args, typed)
}

func (a *app) checkpointGet(c *cobra.Command, text, dest string, best metric, force bool) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	if _, err := os.Lstat(dest); err == nil && !force {
		return &advised{err: &kindError{text: dest + " already exists", kind: store.ErrExist}, advice: "--force replaces it"}
	}
	places, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	name, ch := splitChoice(text)
	ch.best = best
	list, err := a.checkpoints(c.Context(), places, name)
	if err != nil {
		return err
	}
	chosen, err := a.pick(c.Context(), places.place, list, ch, text)
	if err != nil {
		return err
	}
	if err := fetch(c.Context(), chosen, dest, force); err != nil {
		return err
	}
	return a.tellGot(chosen, dest)
}

func (a *app) tellGot(s saved, dest string) error {
	line := s.rendered(false)
	got := gotCheckpoint{Path: s.path, URL: line.URL, Format: string(s.Format), Files: len(s.Files), Size: s.Size, Dest: dest}
	if s.run != "" {
		got.Run = &line.Run
	}
	if s.Step >= 0 {
		got.Step = &s.Step
	}
	a.note("fetched %s, %s in %s, to %s", s.name(), render.Size(s.Size), count(len(s.Files), "file"), dest)
	if a.wantsJSON() {
		return a.printJSON(got)
	}
	return nil
}

// fetch writes a checkpoint beside dest, sees that it is what was found, and renames it.
func fetch(ctx context.Context, s saved, dest string, force bool) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dest), ".heirloom-checkpoint-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// Below their own name, which tells some formats their step.
	top := filepath.Join(tmp, "new", localName(s))
	if err := download(ctx, s, top); err != nil {
		return err
	}
	if err := verifyFetched(ctx, s, top); err != nil {
		return fmt.Errorf("fetch checkpoint %s: %w", s.name(), err)
	}
	return replace(top, dest, filepath.Join(tmp, "old"), force)
}

// replace moves what is new to dest. With force what is there goes to aside first, and back if that fails.
func replace(fresh, dest, aside string, force bool) error {
	moved := false
	if force {
		err := os.Rename(dest, aside)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		moved = err == nil
	}
	if _, err := os.Lstat(dest); err == nil {
		return &kindError{text: dest + " already exists", kind: store.ErrExist}
	}
	err := os.Rename(fresh, dest)
	if err != nil && moved {
		return errors.Join(err, os.Rename(aside, dest))
	}
	return err
}

// localName is the last element of the path, which may be the root of a store.
func localName(s saved) string {
	if name := s.Path.Base(); name != "" && filepath.IsLocal(name) {
		return name
	}
	return "checkpoint"
}

// download writes the files of a checkpoint to top: a file, or a directory of them.
func download(ctx context.Context, s saved, top string) error {
	if s.IsFile() {
		if err := os.MkdirAll(filepath.Dir(top), 0o777); err != nil {
			return err
		}
		got, err := s.store.Download(ctx, s.Path, top, nil)
		if err != nil {
			return err
		}
		return sameVersions(s, []store.Object{got.Object})
	}
	below := ""
	if s.Dir != "" {
		below = string(s.Dir) + "/"
	}
	wanted := map[string]bool{}
	for _, o := range s.Files {
		wanted[strings.TrimPrefix(string(o.Key), below)] = true
	}
	got, err := s.store.DownloadTree(ctx, s.Dir, top, &store.TransferOptions{Skip: func(path string) bool { return !wanted[path] }})
	if err != nil {
		return err
	}
	return sameVersions(s, got)
}

// sameVersions wants what arrived to be what was found whole.
func sameVersions(s saved, got []store.Object) error {
	versions := map[store.Key]store.Object{}
	for _, o := range got {
		versions[o.Key] = o
	}
	for _, o := range s.Files {
		if now := versions[o.Key]; now.Size != o.Size || now.Version != o.Version {
			return &kindError{text: fmt.Sprintf("checkpoint %s changed while it was fetched", s.name()), kind: store.ErrConflict}
		}
	}
	return nil
}

// verifyFetched looks at the files as they lie on this disk. DeepSpeed's directory lacks the file beside it by which it
// is told to be whole; that its files are those that were found whole has been seen.
func verifyFetched(ctx context.Context, s saved, top string) error {
	for _, o := range s.Files {
		file := top
		if !s.IsFile() {
			file = filepath.Join(top, filepath.FromSlash(strings.TrimPrefix(string(o.Key), string(s.Dir)+"/")))
		}
		// In one order on every disk: no file is younger than the marker that commits it.
		if err := os.Chtimes(file, s.Modified, s.Modified); err != nil {
			return err
		}
	}
	if s.Format == checkpoint.DeepSpeed {
		return nil
	}
	local, err := store.Open(ctx, filepath.Dir(top), nil)
	if err != nil {
		return err
	}
	defer local.Close()
	later := func() time.Time { return s.Modified.Add(time.Hour) }
	options := &checkpoint.Options{Anywhere: true, Filename: path.Base(string(s.Path)), Now: later}
	list, err := checkpoint.Find(ctx, local, store.Key(filepath.Base(top)), options)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(c *checkpoint.Checkpoint) bool { return c.Complete() }) {
		return store.ErrCorrupt
	}
	return nil
}
