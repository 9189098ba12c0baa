package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// spot is a place among bytes that the user named.
type spot struct {
	store *store.Store
	key   store.Key // "" is the root of the store
	text  string    // as it was given
	byURL bool      // named by a URL, not by a key of the configured store
}

// path is how a user names a key beside this spot.
func (s spot) path(key store.Key) string {
	switch {
	case s.byURL:
		return s.store.KeyURL(key)
	case key == "":
		return "."
	}
	return string(key)
}

// url is the full address of the spot; a store's own URLs hold no secret.
func (s spot) url() string { return s.store.KeyURL(s.key) }

// below is the beginning of all keys below the spot.
func (s spot) below() string {
	if s.key == "" {
		return ""
	}
	return string(s.key) + "/"
}

// spots finds what paths and URLs mean, with the configured store in mind.
type spots struct {
	app    *app
	config *config.Config
	place
}

func (a *app) spots(ctx context.Context) (*spots, error) {
	settings, err := a.settings(ctx, nil)
	if err != nil {
		return nil, err
	}
	p, err := a.open(ctx, settings)
	return &spots{app: a, config: settings, place: p}, err
}

// listing is what a command that prints a list begins with: the format asked for, and what paths mean.
func (a *app) listing(ctx context.Context) (render.Format, *spots, error) {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return "", nil, err
	}
	found, err := a.spots(ctx)
	return format, found, err
}

// location is the beginning of what is no key: a scheme of two letters or more, with a slash behind it.
var location = pattern.Lazy(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

// at is the spot that text means. Nothing is contacted. The error has kind store.ErrInvalid or store.ErrUnsupported.
func (s *spots) at(ctx context.Context, text string) (spot, error) {
	switch {
	case text == "":
		return spot{}, invalidf("a path is empty; the store itself is \".\"")
	case location().MatchString(text) || filepath.IsAbs(text):
		return s.atURL(ctx, text)
	}
	trimmed := strings.TrimRight(text, "/")
	if trimmed == "." {
		return spot{store: s.store, text: text}, nil
	}
	key, err := store.ParseKey(trimmed)
	if err != nil && (strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")) {
		err = &advised{err: err, advice: "a path is a key below the store; a directory of this machine is written absolute"}
	}
	return spot{store: s.store, key: key, text: text}, err
}

// atURL is at for a URL or an absolute path.
func (s *spots) atURL(ctx context.Context, text string) (spot, error) {
	uri, err := store.CanonicalURI(text, "")
	if err != nil {
		return spot{}, err
	}
	found := spot{store: s.store, text: text, byURL: true}
	if rest, ok := s.inside(uri); ok {
		if rest != "" {
			found.key, err = store.ParseKey(rest)
		}
		return found, err
	}
	if !location().MatchString(uri) { // mem:// and its like
		found.store, err = s.elsewhere(ctx, text)
		return found, err
	}
	root, name := splitURI(uri)
	options := s.options(text, uri)
	if name != "" {
		if found.key, err = store.ParseKey(name); err != nil {
			return spot{}, err
		}
		if found.store, err = s.elsewhere(ctx, openable(root)+options); err == nil {
			return found, nil
		}
	}
	// The roots of some file systems are no place that can be opened.
	found.key = ""
	found.store, err = s.elsewhere(ctx, openable(uri)+options)
	return found, err
}

// elsewhere opens a place that is not the configured store: the layout of the settings is not its own.
func (s *spots) elsewhere(ctx context.Context, url string) (*store.Store, error) {
	options := s.app.storeOptions(ctx, s.config, url)
	plain := &store.Options{Environ: options.Environ, Intercept: options.Intercept}
	s.app.lend(ctx, url, plain)
	opened, err := store.Open(ctx, url, plain)
	if err != nil {
		return nil, err
	}
	if opened.Scheme() == "mem" {
		return nil, invalidf("%s would be forgotten when this command ends", url)
	}
	s.app.keep(opened)
	return opened, nil
}

// inside gives the key of a canonical URI in the configured store.
func (s *spots) inside(uri string) (string, bool) {
	root, err := store.CanonicalURI(s.store.KeyURL(""), "")
	if err != nil {
		return "", false
	}
	if uri == root {
		return "", true
	}
	return strings.CutPrefix(uri, strings.TrimRight(root, "/")+"/")
}

// options are those of the connection: what the URL itself says, else those of the configured store if it is in the
// same bucket. A bucket of that name elsewhere is never meant.
func (s *spots) options(text, uri string) string {
	if strings.HasPrefix(uri, "file:") {
		return ""
	}
	if _, own, ok := strings.Cut(text, "?"); ok {
		return "?" + own
	}
	ours, err := store.CanonicalURI(s.store.KeyURL(""), "")
	if _, query, ok := strings.Cut(s.store.URL(), "?"); err == nil && ok && authority(ours) == authority(uri) {
		return "?" + query
	}
	return ""
}

// authority is scheme://host of a canonical URI.
func authority(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// splitURI cuts the last element off a canonical URI; a root has none.
func splitURI(uri string) (root, name string) {
	start := strings.Index(uri, ":") + 1
	if rest := uri[start:]; strings.HasPrefix(rest, "//") {
		slash := strings.IndexByte(rest[2:], '/')
		if slash < 0 {
			return uri, ""
		}
		start += 2 + slash
	}
	last := strings.LastIndexByte(uri, '/')
	if last < start {
		return uri, ""
	}
	return uri[:last+1], uri[last+1:]
}

// openable is a canonical URI as store.Open takes it, which refuses a question mark in a file URL.
func openable(uri string) string {
	path, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return uri
	}
	if len(path) > 1 && filepath.VolumeName(filepath.FromSlash(path[1:])) != "" {
		path = path[1:] // file:///C:/dir
	}
	return filepath.FromSlash(path)
}

// thing is what lies at a spot: an object, or a directory.
type thing struct {
	store.Object
	isDir bool
}

// look finds out what lies at the spot. Nothing is store.ErrNotExist; the root of a store is a directory always.
func (s spot) look(ctx context.Context) (thing, error) {
	if s.key == "" {
		return thing{isDir: true}, nil
	}
	object, err := s.store.Stat(ctx, s.key)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return thing{Object: object}, err
	}
	holds, err := s.holds(ctx)
	if err == nil && !holds {
		err = s.missing()
	}
	return thing{isDir: true}, err
}

// holds says whether there is anything below the spot.
func (s spot) holds(ctx context.Context) (bool, error) {
	for _, err := range s.store.List(ctx, s.below()) {
		return err == nil, err
	}
	return false, nil
}

// missing is the error for a spot where nothing is.
func (s spot) missing() error {
	return &advised{
		err:    &kindError{text: fmt.Sprintf("there is nothing at %s", s.url()), kind: store.ErrNotExist},
		advice: "heirloom store ls shows what is there",
	}
}
