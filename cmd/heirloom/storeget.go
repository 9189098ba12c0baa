package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
)

func newStoreGet(a *app) *cobra.Command {
	var f transferFlags
	c := &cobra.Command{
		Use:   "get SRC [DEST]",
		Short: "copy an object or a directory of a store to this machine",
		Long: `Copy an object or a directory of a store to this machine. DEST is the copy of SRC,
whatever is there: a file if SRC is an object, else a directory that holds what SRC
holds. Without DEST it is the last part of SRC, here. DEST - is stdout.

A file is written beside its place, checked, and renamed; one that is there is
replaced. Other files in a directory DEST stay. A command that was interrupted goes
on where it stopped when it is repeated.`,
		Example: `  heirloom store get models/best.safetensors
  heirloom store get runs/train-x7f2 ./train-x7f2
  heirloom store get archive/out.tar - | tar x`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return takes("SRC DEST")(c, args)
		},
		ValidArgsFunction: a.completeGet,
		RunE:              func(c *cobra.Command, args []string) error { return a.storeGet(c, args, f) },
	}
	f.register(c, "a file")
	return c
}

func (a *app) storeGet(c *cobra.Command, args []string, f transferFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	from, err := found.at(c.Context(), args[0])
	if err != nil {
		return err
	}
	dest, err := destination(args, from)
	if err != nil {
		return err
	}
	if dest == "-" {
		return from.copyTo(c.Context(), a.stdout, catFlags{length: -1})
	}
	t, err := a.newTransfer(c, f)
	if err != nil {
		return err
	}
	t.dest = dest
	objects, err := t.get(c.Context(), from, dest)
	sum, err := t.end(err)
	if err != nil {
		return spaceHere(err)
	}
	return t.print(sum, objects)
}

// destination is the local path that the arguments mean.
func destination(args []string, from spot) (string, error) {
	switch {
	case len(args) == 1 && from.key == "":
		return "", invalidf("%s has no name that its copy could take; say DEST", from.url())
	case len(args) == 1:
		return from.key.Base(), nil
	case args[1] == "":
		return "", invalidf("a path is empty")
	case location().MatchString(args[1]):
		return "", &advised{err: invalidf("%s is no place on this machine", store.RedactURL(args[1])), advice: "copy it here, then put it there"}
	}
	return filepath.Clean(args[1]), nil
}

// spaceHere gives the way out of a full disk that is not the store's.
func spaceHere(err error) error {
	if errors.Is(err, store.ErrNoSpace) {
		return &advised{err: err, advice: "free some space there; the same command goes on from here"}
	}
	return err
}

func (t *transfer) get(ctx context.Context, from spot, dest string) ([]movedObject, error) {
	what, err := from.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := fitsHere(dest, what.isDir); err != nil {
		return nil, err
	}
	if what.isDir {
		objects, err := from.store.DownloadTree(ctx, from.key, dest, &t.options)
		return from.movedTree(objects, dest), err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return nil, err
	}
	done, err := from.store.Download(ctx, from.key, dest, &t.options)
	return []movedObject{from.moved(done.Object, dest)}, err
}

// fitsHere refuses a local path that would be a file and a directory at once.
func fitsHere(dest string, wantDir bool) error {
	info, err := os.Stat(dest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case wantDir && !info.IsDir():
		return &kindError{text: dest + " is a file, and a directory cannot take its place", kind: store.ErrExist}
	case !wantDir && info.IsDir():
		return &advised{err: &kindError{text: dest + " is a directory, and a file cannot take its place", kind: store.ErrExist},
			advice: "say what the file is to be called: " + filepath.Join(dest, "NAME")}
	case !wantDir && !info.Mode().IsRegular():
		return &advised{err: invalidf("%s is a %s, not a file", dest, special(info.Mode())), advice: "- writes to stdout"}
	}
	return nil
}
