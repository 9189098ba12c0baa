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
	place, err := fsspecURL(o, parseEnviron(environ))
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
	place, query, asked := strings.Cut(config, "?")
	name := path.Base(place)
	dir := strings.TrimSuffix(place, "/"+name)
	if asked {
		dir += "?" + query
	}
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
	url     func(root string, options map[string]string, env environment) (string, error)
}

func fsspecProtocols() []fsspecProtocol {
	return []fsspecProtocol{
		{[]string{"file", "local"}, []string{"auto_mkdir"}, func(root string, _ map[string]string, _ environment) (string, error) { return root, nil }},
		{[]string{"s3", "s3a"}, []string{"anon", "client_kwargs.endpoint_url", "client_kwargs.region_name", "endpoint_url", "profile"}, s3URL},
		{[]string{"gs", "gcs"}, []string{"endpoint_url", "token"}, gcsURL},
		{[]string{"memory"}, nil, func(root string, _ map[string]string, _ environment) (string, error) {
			return "mem://" + strings.Trim(root, "/"), nil
		}},
	}
}

func s3URL(root string, options map[string]string, _ environment) (string, error) {
	query := url.Values{}
	for option, parameter := range map[string]string{"client_kwargs.region_name": "region", "profile": "profile"} {
		if options[option] != "" {
			query.Set(parameter, options[option])
		}
	}
	for _, option := range []string{"endpoint_url", "client_kwargs.endpoint_url"} {
		if options[option] != "" {
			query.Set("endpoint", options[option])
			query.Set("use_path_style", "true")
		}
	}
	if options["anon"] != "" { // any text is true to s3fs
		query.Set("anonymous", "true")
	}
	return withQuery("s3://"+root, query), nil
}

// gcsURL takes an endpoint only if the environment, where the client looks for
// it, names the same.
func gcsURL(root string, options map[string]string, env environment) (string, error) {
	query := url.Values{}
	bare := func(host string) string {
		_, rest, ok := strings.Cut(host, "://")
		if ok {
			host = rest
		}
		return strings.TrimSuffix(host, "/")
	}
	if e := options["endpoint_url"]; e != "" && bare(e) != bare(env["STORAGE_EMULATOR_HOST"]) {
		return "", invalid("endpoint_url %s of protocol gs: set STORAGE_EMULATOR_HOST to it", store.RedactURL(e))
	}
	switch options["token"] {
	case "", "google_default":
	case "anon":
		query.Set("anonymous", "true")
	default:
		return "", unknownOption("gs", "token", nil)
	}
	return withQuery("gs://"+root, query), nil
}

func withQuery(place string, query url.Values) string {
	if len(query) == 0 {
		return place
	}
	return place + "?" + query.Encode()
}

// fsspecURL is the store that a configuration means.
func fsspecURL(o *pyjson.Object, env environment) (string, error) {
	options := make(map[string]string)
	flatten(o, "", options)
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
		return p.url(root, options, env)
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
func flatten(o *pyjson.Object, prefix string, options map[string]string) {
	for key, v := range o.All() {
		switch v := v.(type) {
		case string:
			options[prefix+key] = v
		case *pyjson.Object:
			flatten(v, prefix+key+".", options)
		}
	}
}
