package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
)

func newOrigin(a *app) *cobra.Command {
	var f freshness
	depth := 0
	c := &cobra.Command{
		Use:   "origin FILE|DIGEST|URI",
		Short: "which run made these bytes, and from what",
		Long: `Find the run that made the bytes of a file, whatever it is called by now, and what
that run came from. A file or an object of a store is read for its SHA-256, unless
no run recorded anything of its size; a digest may be shortened to eight digits.
Where several runs made the same bytes, all are listed, the first one first.`,
		Example: `  heirloom origin model.safetensors
  heirloom origin sha256:9f86d081
  heirloom origin s3://models/prod/model.bin -o json`,
		Args:              takes("FILE|DIGEST|URI"),
		ValidArgsFunction: files,
		RunE:              func(c *cobra.Command, args []string) error { return a.runOrigin(c, args[0], depth, f) },
	}
	c.Flags().IntVar(&depth, "depth", 0, "what the run came from at most `N` steps away; 0 = all")
	f.register(c)
	return c
}

func (a *app) runOrigin(c *cobra.Command, text string, depth int, f freshness) error {
	format, err := a.format(render.LineageFormats)
	if err != nil {
		return err
	}
	if depth < 0 {
		return usagef(c.CommandPath(), "--depth is %d, want 0 or more", depth)
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	var out render.Origin
	bytes := &hashed{app: a, text: text}
	err = a.ask(c.Context(), c, found.place, f, func(x *index.Index) error {
		out, err = bytes.origin(c.Context(), found, x, depth)
		if errors.Is(err, store.ErrNotExist) && !f.never && !f.now { // it may have been made a moment ago
			if _, err = x.CatchUp(c.Context()); err == nil {
				out, err = bytes.origin(c.Context(), found, x, depth)
			}
		}
		if err == nil {
			out.Completeness, err = a.completeness(c.Context(), x)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range out.Chain.Warnings {
		a.warn("%s", w)
	}
	if err := out.Write(a.stdout, format, a.style(a.stdout)); err != nil {
		return err
	}
	a.noteCompleteness(out.Completeness)
	return nil
}

// hashed is something of which the bytes are asked about. It is read once, however often an index is asked.
type hashed struct {
	app    *app
	text   string
	digest store.Digest // "" before it was read
	size   int64
}

// origin finds the names of the bytes, and what the runs that made them came from.
func (h *hashed) origin(ctx context.Context, found *spots, x *index.Index, depth int) (render.Origin, error) {
	out := render.Origin{Size: -1}
	digest, err := h.whole(ctx, found, x)
	if err != nil {
		return out, err
	}
	names, err := x.Contents(ctx, digest)
	if err != nil {
		return out, err
	}
	if len(names) == 0 {
		return out, h.nobody(ctx, x, "SHA-256 "+string(digest))
	}
	out.Digest, out.Names = string(digest), names
	if h.digest != "" {
		out.File, out.Size = h.text, h.size
	}
	for _, c := range names {
		out.Size = max(out.Size, c.Size)
	}
	out.Chain, err = found.closureFrom(ctx, x, named{id: lineage.ContentID(digest)}, lineage.Query{Up: true, Depth: depth})
	return out, err
}

// whole is the digest that is meant: of a file or object here, or what the text itself begins.
func (h *hashed) whole(ctx context.Context, found *spots, x *index.Index) (store.Digest, error) {
	if h.digest != "" {
		return h.digest, nil
	}
	dir, err := h.app.workdir()
	if err != nil {
		return "", err
	}
	path := h.text
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return "", &advised{err: invalidf("%s is a directory, and only files have a digest", h.text), advice: "heirloom lineage " + h.text + " knows directories by their path"}
	}
	if err == nil {
		return h.read(ctx, x, info.Size(), func() (io.ReadCloser, error) { return os.Open(path) })
	}
	if location().MatchString(h.text) {
		return h.object(ctx, found, x)
	}
	r := &lineage.Resolver{Names: onlyDigests{x}}
	id, err := r.Resolve(ctx, h.text)
	if errors.Is(err, store.ErrNotExist) {
		return "", h.nobody(ctx, x, "a digest that begins so, and there is no file of this name")
	}
	if err != nil {
		return "", err
	}
	digest, _ := lineage.ParseContentID(id)
	return digest, nil
}

// object reads an object of a store, or, where it is not there any more, tells what was recorded at its place.
func (h *hashed) object(ctx context.Context, found *spots, x *index.Index) (store.Digest, error) {
	at, err := found.at(ctx, h.text)
	if err != nil {
		return "", err
	}
	object, err := at.store.Stat(ctx, at.key)
	if errors.Is(err, store.ErrNotExist) {
		uri, canonicalErr := store.CanonicalURI(h.text, "")
		if canonicalErr != nil {
			return "", canonicalErr
		}
		digests, err := x.DigestsAt(ctx, uri)
		switch {
		case err != nil:
			return "", err
		case len(digests) == 1:
			h.app.warn("%s is not there any more; this is what was recorded of it", h.text)
			return digests[0], nil
		case len(digests) > 1:
			return "", &kindError{text: fmt.Sprintf("%s is not there any more, and had %d contents; say which by its digest", h.text, len(digests)), kind: store.ErrConflict}
		}
		return "", h.nobody(ctx, x, "this place, and there is nothing")
	}
	if err != nil {
		return "", err
	}
	return h.read(ctx, x, object.Size, func() (io.ReadCloser, error) { return at.store.Open(ctx, at.key) })
}

// read hashes bytes, unless no run recorded any of that size.
func (h *hashed) read(ctx context.Context, x *index.Index, size int64, open func() (io.ReadCloser, error)) (store.Digest, error) {
	may, err := x.MayHold(ctx, size)
	if err != nil {
		return "", err
	}
	if !may {
		return "", h.nobody(ctx, x, fmt.Sprintf("a file of %d bytes", size))
	}
	display, err := h.app.newDisplay()
	if err != nil {
		return "", err
	}
	defer display.Close()
	in, err := open()
	if err != nil {
		return "", err
	}
	sum := newSummer()
	_, err = io.Copy(sum, reporter{ctx, in, func(n int64) {
		display.Update(store.Progress{FilesTotal: 1, BytesTotal: size, Bytes: n})
	}, new(int64)})
	if err = errors.Join(err, in.Close()); err != nil {
		return "", fmt.Errorf("read %s: %w", h.text, err)
	}
	h.digest, h.size = store.Digest(sum.digest()), sum.n
	return h.digest, nil
}

// reporter tells how much was read, and stops when the context ends.
type reporter struct {
	ctx    context.Context //nolint:containedctx // it lasts for one copy
	in     io.Reader
	report func(int64)
	n      *int64
}

// Read is io.Reader's.
func (r reporter) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.in.Read(b)
	*r.n += int64(n)
	r.report(*r.n)
	return n, err
}

// nobody says that no run recorded something, and what was searched.
func (h *hashed) nobody(ctx context.Context, x *index.Index, what string) error {
	c, err := x.Completeness(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("no run recorded %s: searched the artifacts and inputs of %s in the index", what, count(c.Runs, "run"))
	if h.digest != "" {
		text = fmt.Sprintf("%s, SHA-256 %s, is nothing that a run recorded: searched the artifacts and inputs of %s", h.text, h.digest, count(c.Runs, "run"))
	}
	return &advised{err: &kindError{text: text, kind: store.ErrNotExist}, advice: "runs record digests unless they hash nothing (--hash), and TorchX records none"}
}

// onlyDigests is an index in which nothing but digests is looked up.
type onlyDigests struct{ *index.Index }

// Find is part of lineage.Names: every digest as its content.
func (x onlyDigests) Find(ctx context.Context, fit lineage.Fit, text string) ([]string, error) {
	if fit != lineage.FitDigest {
		return nil, nil
	}
	digests, err := x.Digests(ctx, text)
	var ids []string
	for _, d := range digests {
		ids = append(ids, lineage.ContentID(d))
	}
	return ids, err
}
