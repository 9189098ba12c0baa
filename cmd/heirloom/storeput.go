package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
)

// putFlags are what put may do.
type putFlags struct {
	transferFlags
	into, force bool
}

func newStorePut(a *app) *cobra.Command {
	var f putFlags
	c := &cobra.Command{
		Use:   "put SRC... DEST",
		Short: "copy local files and directories into a store",
		Long: `Copy local files and directories into a store. What DEST becomes does not depend on
what is there:

  put FILE DEST       DEST is the object
  put DIR DEST        DEST is the copy of DIR: DIR/a/b becomes DEST/a/b
  put SRC SRC... DEST each lies below DEST under its own name; --into DEST does so for one
  put - DEST          DEST is what comes from stdin

Objects that are there are replaced, each in one step; others below DEST stay. Links
within DIR, pipes and devices are left out, and empty directories have no copy.
A command that was interrupted goes on where it stopped when it is repeated.`,
		Example: `  heirloom store put model.safetensors models/best.safetensors
  heirloom store put out runs/train-x7f2/out
  heirloom store put *.parquet s3://bucket/clicks --into
  tar c out | heirloom store put - archive/out.tar`,
		Args:              source("SRC and DEST"),
		ValidArgsFunction: a.completePut,
		RunE:              func(c *cobra.Command, args []string) error { return a.storePut(c, args, f) },
	}
	f.register(c, "an object")
	c.Flags().BoolVar(&f.into, "into", false, "each SRC lies below DEST under its own name, also if it is the only one")
	c.Flags().BoolVar(&f.force, "force", false, "also over what heirloom itself needs")
	return c
}

// source wants one argument and a destination at the least.
func source(names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < 2 {
			return usagef(c.CommandPath(), "%s are needed", names)
		}
		return nil
	}
}

// parcel is one source and where it goes.
type parcel struct {
	path  string // "-" is stdin
	file  string // the same without links: one that the user names is meant
	to    spot
	isDir bool
}

func (a *app) storePut(c *cobra.Command, args []string, f putFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	parcels, err := found.parcels(c.Context(), args, f)
	if err != nil {
		return err
	}
	t, err := a.newTransfer(c, f.transferFlags)
	if err != nil {
		return err
	}
	var objects []movedObject
	for _, p := range parcels {
		list, putErr := t.put(c.Context(), p)
		objects = append(objects, list...)
		if err = putErr; err != nil {
			break
		}
		t.display.Next()
	}
	sum, err := t.end(err)
	if err != nil {
		return err
	}
	return t.print(sum, objects)
}

// parcels checks every source and its destination before anything is moved.
func (s *spots) parcels(ctx context.Context, args []string, f putFlags) ([]parcel, error) {
	sources, dest := args[:len(args)-1], args[len(args)-1]
	to, err := s.at(ctx, dest)
	if err != nil {
		return nil, err
	}
	into := f.into || len(sources) > 1
	var list []parcel
	for _, path := range sources {
		p, err := newParcel(path, to, into)
		if err != nil {
			return nil, err
		}
		if err := s.guard(ctx, p.to, f.force); err != nil {
			return nil, err
		}
		if err := p.fits(ctx); err != nil {
			return nil, err
		}
		if p.isDir {
			if err := p.to.store.CheckTree(p.file, p.to.key, nil); err != nil {
				return nil, &advised{err: err, advice: "rename them, or put the rest one by one; nothing was sent"}
			}
		}
		list = append(list, p)
	}
	return list, nil
}

func newParcel(path string, to spot, into bool) (parcel, error) {
	p := parcel{path: path, to: to}
	switch {
	case path == "":
		return p, invalidf("a path is empty")
	case path == "-" && into:
		return p, invalidf("what comes from stdin has no name: give it a DEST of its own")
	case path == "-":
		return p, p.named()
	case location().MatchString(path):
		return p, &advised{err: invalidf("%s is no file of this machine", store.RedactURL(path)), advice: "fetch it with heirloom store get"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return p, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return p, &advised{err: invalidf("%s is a %s, not a file", path, special(info.Mode())),
			advice: fmt.Sprintf("its bytes are taken by: heirloom store put - %s < %s", to.text, path)}
	}
	p.isDir = info.IsDir()
	if p.file, err = filepath.EvalSymlinks(path); err != nil {
		return p, err
	}
	if into {
		full, err := filepath.Abs(path)
		if err != nil {
			return p, err
		}
		p.to.key, err = store.ParseKey(string(to.key.Join(filepath.Base(full))))
		return p, err
	}
	return p, p.named()
}

// named refuses the root of a store as the name of an object.
func (p parcel) named() error {
	if p.isDir || p.to.key != "" {
		return nil
	}
	return &advised{err: invalidf("%s is a directory", p.to.text), advice: "say what the object is to be called, or use --into"}
}

// special names what is neither a file nor a directory.
func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// fits refuses a destination that would be an object and a directory at once.
func (p parcel) fits(ctx context.Context) error {
	if p.to.key == "" {
		return nil // only directories get so far
	}
	if p.isDir {
		_, err := p.to.store.Stat(ctx, p.to.key)
		switch {
		case err == nil:
			return &advised{err: &kindError{text: p.to.url() + " is an object, and a directory cannot take its place", kind: store.ErrExist},
				advice: "choose another DEST, or delete it before"}
		case errors.Is(err, store.ErrNotExist):
			return nil
		}
		return err
	}
	holds, err := p.to.holds(ctx)
	if err == nil && holds {
		err = &advised{err: &kindError{text: p.to.url() + " is a directory, and an object cannot take its place", kind: store.ErrExist},
			advice: "say what the object is to be called, or use --into"}
	}
	return err
}

func (t *transfer) put(ctx context.Context, p parcel) ([]movedObject, error) {
	switch {
	case p.path == "-":
		object, err := t.putStream(ctx, p)
		if errors.Is(err, context.Canceled) {
			err = &advised{err: err, advice: "what came from stdin is gone"}
		}
		return []movedObject{p.to.moved(object, "-")}, err
	case p.isDir:
		objects, err := p.to.store.UploadTree(ctx, p.file, p.to.key, t.noteSpecial(p.file))
		return p.to.movedTree(objects, p.path), err
	}
	done, err := p.to.store.Upload(ctx, p.file, p.to.key, &t.options)
	return []movedObject{p.to.moved(done.Object, p.path)}, err
}
