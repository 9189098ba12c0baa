package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newAddInput(a *app) *cobra.Command {
	var known tracker.Source
	c := &cobra.Command{
		Use:   "input [NODE]",
		Short: "say which dataset, file or URI this run used",
		Long: `Say which input that is not a run this run used: a dataset as NAME@VERSION, a URI
or a path. What is known about it besides goes into the flags. A dataset of this store
is recorded with its fingerprint; NAME@latest is the version that is the highest now.`,
		Example: `  heirloom add input clicks@2026-11-20
  heirloom add input s3://data/clicks/ --digest sha256:9f86d0…
  heirloom add input clicks@3 --uri s3://data/clicks/3`,
		ValidArgsFunction: files,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && (known.Name != "" || known.URI != "") {
				return nil
			}
			return takes("NODE")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			t, err := a.target(c)
			if err != nil {
				return err
			}
			source, err := t.input(c.Context(), known, strings.Join(args, ""), t.dir)
			if err != nil {
				return err
			}
			if err := t.writer.AddSource(c.Context(), t.run, source); err != nil {
				return err
			}
			if warning := absent(source); warning != "" {
				a.warn("%s", warning)
			}
			return a.added(c.Context(), t, "used %s", source.ID)
		},
	}
	flags := c.Flags()
	flags.StringVar(&known.Name, "name", "", "`NAME` of the dataset")
	flags.StringVar(&known.Version, "version", "", "`VERSION` of the dataset")
	flags.StringVar(&known.Digest, "digest", "", "its SHA-256, `HEX` or sha256:HEX")
	flags.StringVar(&known.URI, "uri", "", "`URI` where it lies")
	return c
}

// input is input with what the store knows of a dataset by that name.
func (p place) input(ctx context.Context, known tracker.Source, node, dir string) (tracker.Source, error) {
	source, err := input(known, node, dir)
	ref := dataset.Ref{Name: source.Name, Version: source.Version}
	if err != nil || ref.Version == "" {
		return source, err
	}
	if _, err := dataset.ParseRef(ref.String()); err != nil {
		return source, nil // no dataset of ours has such a name
	}
	find := dataset.Labelled
	if ref.IsLatest() {
		find = dataset.Resolve
	}
	label, err := find(ctx, p.store, ref)
	switch {
	case errors.Is(err, store.ErrNotExist) && !ref.IsLatest():
		return source, nil // it is kept elsewhere
	case err != nil:
		return tracker.Source{}, err
	}
	source.Version, source.Digest = label.DatasetVersion, cmp.Or(source.Digest, string(label.Fingerprint))
	return tracker.NewInput(source, dir)
}

// input makes the source for a node as people write it: a URI, a path, NAME@VERSION or NAME. What known
// says already stays. A bare word is a file if there is one of this name, else a dataset's name.
func input(known tracker.Source, node, dir string) (tracker.Source, error) {
	name, version, versioned := strings.Cut(node, "@")
	switch {
	case node == "":
	case isLocation(node, dir):
		known.URI = cmp.Or(known.URI, node)
	case versioned && (name == "" || version == ""):
		return tracker.Source{}, invalidf("input %q is neither NAME@VERSION nor a URI nor a path", node)
	case versioned:
		known.Name, known.Version = cmp.Or(known.Name, name), cmp.Or(known.Version, version)
	default:
		known.Name = cmp.Or(known.Name, node)
	}
	if known.Digest != "" {
		digest, err := store.ParseDigest(known.Digest)
		if err != nil {
			return tracker.Source{}, err
		}
		known.Digest = string(digest)
	}
	return tracker.NewInput(known, dir)
}

// absent says that a local file which is an input is not there; "" if it is, or if it lies elsewhere.
func absent(s tracker.Source) string {
	path, local := strings.CutPrefix(s.URI, "file://")
	if !local || s.Role != tracker.RoleInput {
		return ""
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "input " + path + " does not exist"
	}
	return ""
}

// isLocation reports a URL, a path with a separator, or the name of an existing file.
func isLocation(text, dir string) bool {
	if strings.Contains(text, "://") || strings.ContainsAny(text, `/\`) || text == "." || text == ".." {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, text))
	return err == nil
}
