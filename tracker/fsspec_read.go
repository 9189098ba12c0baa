package tracker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	// maxConfig is more than any configuration has.
	maxConfig = 1 << 20
	// configTimeout bounds the time for one from a web server.
	configTimeout = 30 * time.Second
)

// readConfig reads a file as fsspec.open does: a path, file:// before any path,
// or a URL of a protocol that is known here.
func readConfig(ctx context.Context, config string, environ []string) ([]byte, error) {
	for _, scheme := range []string{"file://", "local://"} {
		config = strings.TrimPrefix(config, scheme)
	}
	protocol, rest, isURL := strings.Cut(config, "://")
	switch {
	case strings.Contains(config, "::"):
		return nil, invalid("chained URLs of fsspec are not supported")
	case !isURL:
		return os.ReadFile(expandHome(config, parseEnviron(environ)))
	case protocol == "http" || protocol == "https":
		return fetchConfig(ctx, config)
	}
	rest, query, asked := strings.Cut(rest, "?")
	slash := strings.LastIndexByte(rest, '/')
	if slash < 0 || slash+1 == len(rest) {
		return nil, invalid("the URL names no file")
	}
	dir, name := protocol+"://"+rest[:slash], rest[slash+1:]
	place := FsspecRoot{URL: dir + "?" + query, Options: store.Options{Environ: environ}}
	if !asked {
		var err error
		if place, err = fsspecRoot(protocol, dir, &pyjson.Object{}, environ); err != nil {
			return nil, err
		}
	}
	s, err := store.Open(ctx, place.URL, &place.Options)
	if err != nil {
		return nil, err
	}
	text, err := s.Get(ctx, store.Key(name))
	return text, errors.Join(err, s.Close())
}

// expandHome is what fsspec does with local paths.
func expandHome(path string, env environment) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && env["HOME"] != "" {
		return filepath.Join(env["HOME"], filepath.FromSlash(rest))
	}
	return path
}

// fetchConfig reads one from a web server.
func fetchConfig(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, configTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, invalid("it is no URL") // which the error shows, with its password
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return nil, &store.Error{Op: "get", Kind: store.ErrUnavailable, Err: err}
	}
	defer func() { _ = response.Body.Close() }() // only read
	if response.StatusCode != http.StatusOK {
		return nil, &store.Error{Op: "get", Kind: statusKind(response.StatusCode), Err: fmt.Errorf("the server answers %s", response.Status)}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxConfig+1))
	switch {
	case err != nil:
		return nil, &store.Error{Op: "get", Kind: store.ErrUnavailable, Err: err}
	case len(text) > maxConfig:
		return nil, invalid("it is longer than any configuration")
	}
	return text, nil
}

func statusKind(status int) error {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return store.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return store.ErrPermission
	}
	return store.ErrUnavailable
}
