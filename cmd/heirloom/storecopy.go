package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
)

// newStoreCopy is what utils.copy runs. Unlike elsewhere a path is one of this machine, as in TorchX.
func newStoreCopy(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "copy SRC DEST",
		Short:  "copy a file from any place to any other",
		Hidden: true,
		Args:   takes("SRC DEST"),
		RunE:   func(c *cobra.Command, args []string) error { return a.storeCopy(c.Context(), args[0], args[1]) },
	}
}

func (a *app) storeCopy(ctx context.Context, src, dst string) (err error) {
	from, fromKey, err := a.spotOf(ctx, src)
	if err != nil {
		return err
	}
	to, toKey, err := a.spotOf(ctx, dst)
	if err != nil {
		return err
	}
	in, err := from.Open(ctx, fromKey)
	if err != nil {
		return fmt.Errorf("copy %s: %w", store.RedactURL(src), err)
	}
	defer func() { _ = in.Close() }()
	object, err := to.PutFrom(ctx, toKey, in, in.Object().Size)
	if err != nil {
		return fmt.Errorf("copy to %s: %w", store.RedactURL(dst), err)
	}
	a.note("%s: %d bytes", to.KeyURL(toKey), object.Size)
	return nil
}

// spotOf opens the directory that a path or URL lies in, made if it is on this machine, and gives its key there.
func (a *app) spotOf(ctx context.Context, text string) (*store.Store, store.Key, error) {
	dir, err := a.workdir()
	if err != nil {
		return nil, "", fmt.Errorf("find the working directory: %w", err)
	}
	uri, err := store.CanonicalURI(text, dir)
	if err != nil {
		return nil, "", err
	}
	root, name := path.Split(uri)
	if strings.HasSuffix(root, "://") || name == "" {
		return nil, "", invalidf("%s is a whole bucket or directory, and no file", store.RedactURL(text))
	}
	if _, options, ok := strings.Cut(text, "?"); ok && !strings.HasPrefix(uri, "file:") {
		root += "?" + options
	}
	key, err := store.ParseKey(name)
	if err != nil {
		return nil, "", err
	}
	if local, ok := strings.CutPrefix(root, "file://"); ok {
		if info, err := os.Stat(local + name); err == nil && info.IsDir() {
			return nil, "", invalidf("%s is a directory, and no file", text)
		}
	}
	settings, err := a.settings(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	s, err := a.openAny(ctx, strings.TrimSuffix(root, "/"), settings, false)
	return s, key, err
}
