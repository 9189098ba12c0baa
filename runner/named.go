package runner

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

var isURL = pattern.Lazy(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

// names gives each output that was named its own name among all.
type names map[string]bool

func newNames(files []string) names {
	n := names{}
	for _, rel := range files {
		n[artifactName(rel)] = true
	}
	return n
}

// of gives a relative path as it was written, else the last element; where that
// is taken, all of it.
func (n names) of(output string) string {
	text := strings.TrimRight(filepath.ToSlash(output), "/")
	if isURL().MatchString(text) {
		text = store.RedactURL(text)
	}
	name := path.Clean(text)
	if isURL().MatchString(text) || path.IsAbs(name) || filepath.IsAbs(output) || strings.HasPrefix(name, "../") || name == "." {
		name = path.Base(strings.SplitN(text, "?", 2)[0])
	}
	if name = artifactName(name); n[name] || name == "." || name == "/" || name == ".." {
		name = artifactName(text)
	}
	n[name] = true
	return name
}

func (r *run) absDir() string {
	dir, err := filepath.Abs(r.workdir())
	if err != nil {
		return ""
	}
	return dir
}

// describer tells of the run's outputs.
func (r *run) describer() *Describer {
	return &Describer{
		Store: r.Store, Dir: r.absDir(), Environ: r.job.Environ, Hash: r.job.Hash,
		durable: r.place.inPlace, warn: r.warnf,
	}
}

// fileURL is the URL of a local file.
func fileURL(file string) string {
	if uri, err := store.CanonicalURI(file, "/"); err == nil {
		return uri
	}
	return "file://" + strings.ToValidUTF8(filepath.ToSlash(file), "\ufffd")
}

// check refuses what no run could be started with.
func (r *run) check() error {
	switch r.job.Hash {
	case "", HashSHA256, HashSize, HashNone:
	default:
		return fmt.Errorf("hash mode %q is none of sha256, size, none: %w", r.job.Hash, store.ErrInvalid)
	}
	for _, output := range r.job.Outputs {
		if _, err := store.CanonicalURI(output, r.absDir()); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}
