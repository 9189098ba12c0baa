package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
)

// artifactGetFlags are what artifact get may do.
type artifactGetFlags struct {
	force    bool
	parallel int
}

func newArtifactGet(a *app) *cobra.Command {
	var f artifactGetFlags
	c := &cobra.Command{
		Use:   "get RUN#NAME [DEST]",
		Short: "fetch an artifact, and check it",
		Long: `Fetch an artifact to DEST, or here under its own name; DEST - is stdout. It is checked
against the size and the SHA-256 that were recorded before it gets its name. What is
there is not replaced without --force.`,
		Example: `  heirloom artifact get train-x7f2#model
  heirloom artifact get train-x7f2#model best.safetensors
  heirloom artifact get train-x7f2#metrics - | head
  heirloom artifact get sha256:9f86d081`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return takes("RUN#NAME DEST")(c, args)
		},
		ValidArgsFunction: a.completeArtifactGet,
		RunE:              func(c *cobra.Command, args []string) error { return a.artifactGet(c, args, f) },
	}
	c.Flags().BoolVar(&f.force, "force", false, "replace what is there")
	c.Flags().IntVar(&f.parallel, "parallel", 0, "`N` requests at once; 0 = what suits the store")
	return c
}

func (a *app) artifactGet(c *cobra.Command, args []string, f artifactGetFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	ctx := c.Context()
	found, err := a.spots(ctx)
	if err != nil {
		return err
	}
	m, err := found.one(c, args[0])
	if err != nil {
		return err
	}
	from, what, err := found.find(ctx, m)
	if err != nil {
		return err
	}
	dest, err := artifactDest(args, m, from)
	if err != nil {
		return err
	}
	if dest == "-" {
		return a.artifactOut(ctx, m, from, what)
	}
	if err := free(dest, what.isDir, f.force); err != nil {
		return err
	}
	t, err := a.newTransfer(c, transferFlags{parallel: f.parallel})
	if err != nil {
		return err
	}
	objects, err := t.getArtifact(ctx, m, from, what, dest)
	sum, err := t.end(err)
	if err != nil {
		return spaceHere(err)
	}
	a.note("%s is in %s", m.id(), dest)
	if len(m.proof()) == 0 {
		a.warn("%s could not be checked: no checksum was recorded", m.id())
	}
	return t.print(sum, objects)
}

// one is the artifact that text names; a run stands for its only one.
func (s *spots) one(c *cobra.Command, text string) (made, error) {
	list, err := s.madeBy(c.Context(), text)
	if errors.Is(err, store.ErrNotExist) {
		if node, ok := s.otherName(c, text); ok {
			if same, otherErr := s.madeBy(c.Context(), node); otherErr == nil {
				list, err = same, nil
			}
		}
	}
	switch {
	case err != nil:
		return made{}, err
	case len(list) == 1:
		return list[0], nil
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = text + "#" + m.Name
	}
	if len(names) == 0 {
		return made{}, &kindError{text: fmt.Sprintf("run %s made nothing that was recorded", text), kind: store.ErrNotExist}
	}
	return made{}, &advised{err: invalidf("run %s made %s", text, count(len(list), "artifact")), advice: "say which: " + some(names)}
}

// otherName is the artifact that a digest or a path names: of several with the same bytes the one that was made first.
func (s *spots) otherName(c *cobra.Command, text string) (id string, ok bool) {
	ctx := c.Context()
	err := s.app.ask(ctx, c, s.place, freshness{}, func(x *index.Index) error {
		node, err := s.app.resolve(ctx, s.place, x, text, freshness{})
		if err != nil {
			return err
		}
		id = node.id
		digest, isContent := lineage.ParseContentID(id)
		if !isContent {
			return nil
		}
		names, err := x.Contents(ctx, digest)
		if err == nil && len(names) > 0 {
			id = names[0].ID()
		}
		return err
	})
	return id, err == nil && id != text
}

// artifactDest is the local path for the copy: what the user says, else the last part of where it lies.
func artifactDest(args []string, m made, from spot) (string, error) {
	if len(args) == 1 && from.key == "" {
		return filepath.Base(filepath.FromSlash(strings.TrimRight(m.Name, "/"))), nil
	}
	return destination(args, from)
}

// free refuses a destination that is taken. A directory is never replaced by a file, nor merged into.
func free(dest string, wantDir, force bool) error {
	info, err := os.Lstat(dest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return &advised{err: &kindError{text: dest + " is there already", kind: store.ErrExist}, advice: "choose another DEST"}
	case !force || wantDir:
		return &advised{err: &kindError{text: dest + " is there already", kind: store.ErrExist}, advice: "--force replaces a file, or choose another DEST"}
	}
	return nil
}

// getArtifact fetches beside dest, checks, and renames.
func (t *transfer) getArtifact(ctx context.Context, m made, from spot, what thing, dest string) ([]movedObject, error) {
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return nil, err
	}
	part := filepath.Join(filepath.Dir(dest), ".heirloom-"+filepath.Base(dest)+".get")
	list, err := t.get(ctx, from, part)
	if err != nil {
		return nil, err // what came is kept, to go on from there
	}
	if err := m.check(ctx, part); err != nil {
		return nil, errors.Join(err, os.RemoveAll(part))
	}
	for i := range list {
		list[i].File = dest + strings.TrimPrefix(list[i].File, part)
	}
	return list, os.Rename(part, dest)
}

// artifactOut writes a file to stdout and says at the end if it was not the right one.
func (a *app) artifactOut(ctx context.Context, m made, from spot, what thing) error {
	if what.isDir {
		return from.isDirectory()
	}
	sum := newSummer()
	if err := from.copyTo(ctx, io.MultiWriter(a.stdout, sum), catFlags{length: -1}); err != nil {
		return err
	}
	if size, ok := m.SizeBytes(); ok && size != sum.n {
		return m.corrupt(fmt.Sprintf("it has %d bytes, %d were recorded", sum.n, size))
	}
	if want := m.SHA256(); want != "" && want != sum.digest() {
		return m.corrupt("its SHA-256 is not the one recorded")
	}
	return nil
}
