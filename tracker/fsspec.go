package tracker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// DefaultFactories knows the trackers of TorchX that heirloom can stand in for:
// "fsspec", whose configuration is a file, local or in any store, with lines
// such as protocol=s3 and root_path=bucket/prefix. environ is what the stores
// may look at.
func DefaultFactories(environ []string) map[string]Factory {
	return map[string]Factory{
		"fsspec": func(ctx context.Context, config string) (Tracker, error) { return openFsspec(ctx, config, environ) },
	}
}

// storeTracker is a FileTracker that owns its store.
type storeTracker struct {
	*FileTracker
}

// Close releases the store.
func (t storeTracker) Close() error { return t.s.Close() }

func openFsspec(ctx context.Context, config string, environ []string) (Tracker, error) {
	if config == "" {
		return nil, invalid("the fsspec tracker has no configuration: set TORCHX_TRACKER_FSSPEC_CONFIG to its file")
	}
	text, err := readConfig(ctx, config, environ)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", store.RedactURL(config), err)
	}
	o, err := parseFsspec(string(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", store.RedactURL(config), err)
	}
	place, err := fsspecURL(o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", store.RedactURL(config), err)
	}
	s, err := store.Open(ctx, place, &store.Options{Environ: environ})
	if err != nil {
		return nil, err
	}
	return storeTracker{NewFileTracker(s, nil)}, nil
}

// readConfig reads a file as fsspec.open does: a path, file:// before any path,
// or the URL of an object.
func readConfig(ctx context.Context, config string, environ []string) ([]byte, error) {
	for _, scheme := range []string{"file://", "local://"} {
		config = strings.TrimPrefix(config, scheme)
	}
	if !strings.Contains(config, "://") {
		return os.ReadFile(config)
	}
	name := path.Base(config)
	dir := strings.TrimSuffix(config, "/"+name)
	s, err := store.Open(ctx, dir, &store.Options{Environ: environ})
	if err != nil {
		return nil, err
	}
	text, err := s.Get(ctx, store.Key(name))
	return text, errors.Join(err, s.Close())
}

// parseFsspec reads TorchX's grammar (torchx/tracker/backend/fsspec.py,
// _read_config): key=value lines, # at the start of a line, dots nest. What
// Python takes by accident is taken too: lines without "=" are nothing.
func parseFsspec(text string) (*pyjson.Object, error) {
	o := &pyjson.Object{}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitAfterSeq(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		if !ok || key == "" || value == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := putFsspec(o, strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func putFsspec(o *pyjson.Object, key, value string) error {
	first, rest, nested := strings.Cut(key, ".")
	if !nested {
		o.Set(key, value)
		return nil
	}
	if rest == "" {
		return invalid("illegal key %q: it must not end in a dot", key)
	}
	inner, ok := o.Get(first)
	if !ok {
		inner = &pyjson.Object{}
		o.Set(first, inner)
	}
	below, ok := inner.(*pyjson.Object)
	if !ok {
		return invalid("key %q: %s has a value already", key, first)
	}
	return putFsspec(below, rest, value)
}

// fsspecProtocol is what a protocol of fsspec becomes.
type fsspecProtocol struct {
	names   []string
	options []string // that may be given
	url     func(root string, options map[string]string) string
}

func fsspecProtocols() []fsspecProtocol {
	return []fsspecProtocol{
		{[]string{"file", "local"}, []string{"auto_mkdir"}, func(root string, _ map[string]string) string { return root }},
		{[]string{"s3", "s3a"}, []string{"endpoint_url", "client_kwargs.endpoint_url", "client_kwargs.region_name"}, s3URL},
		{[]string{"gs", "gcs"}, nil, func(root string, _ map[string]string) string { return "gs://" + root }},
		{[]string{"memory"}, nil, func(root string, _ map[string]string) string { return "mem://" + strings.Trim(root, "/") }},
	}
}

func s3URL(root string, options map[string]string) string {
	query := url.Values{}
	for _, name := range []string{"endpoint_url", "client_kwargs.endpoint_url"} {
		if options[name] != "" {
			query.Set("endpoint", options[name])
			query.Set("use_path_style", "true")
		}
	}
	if region := options["client_kwargs.region_name"]; region != "" {
		query.Set("region", region)
	}
	place := "s3://" + root
	if len(query) > 0 {
		place += "?" + query.Encode()
	}
	return place
}

// fsspecURL is the store that a configuration means.
func fsspecURL(o *pyjson.Object) (string, error) {
	options := make(map[string]string)
	if err := flatten(o, "", options); err != nil {
		return "", err
	}
	name, root := options["protocol"], options["root_path"]
	if name == "" || root == "" {
		return "", invalid("the fsspec tracker needs both protocol and root_path")
	}
	delete(options, "protocol")
	delete(options, "root_path")
	var known []string
	for _, p := range fsspecProtocols() {
		known = append(known, p.names...)
		if !slices.Contains(p.names, name) {
			continue
		}
		for _, option := range slices.Sorted(maps.Keys(options)) {
			if !slices.Contains(p.options, option) {
				return "", unknownOption(name, option, p.options)
			}
		}
		for _, n := range p.names {
			root = strings.TrimPrefix(root, n+"://")
		}
		return p.url(root, options), nil
	}
	return "", invalid("protocol %q is not known here; known are %s", name, strings.Join(known, ", "))
}

func unknownOption(protocol, option string, known []string) error {
	if slices.Contains([]string{"key", "secret", "token", "username", "password"}, option) {
		return invalid("option %q of protocol %s: credentials are not read from this file, but from the environment", option, protocol)
	}
	list := "none"
	if len(known) > 0 {
		list = strings.Join(known, ", ")
	}
	return invalid("option %q of protocol %s is not known here; known are: %s", option, protocol, list)
}

// flatten turns nested options back into dotted names.
func flatten(o *pyjson.Object, prefix string, options map[string]string) error {
	for key, v := range o.All() {
		switch v := v.(type) {
		case string:
			options[prefix+key] = v
		case *pyjson.Object:
			if err := flatten(v, prefix+key+".", options); err != nil {
				return err
			}
		default:
			return invalid("option %q is not text", prefix+key)
		}
	}
	return nil
}
