package tracker

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// fsspecProtocol is what a protocol of fsspec becomes.
type fsspecProtocol struct {
	names   []string // of which fsspec takes each for the same
	options []fsspecOption
	url     func(root string, p *fsspecPlace) (string, error) // root has lost the name
}

// fsspecOption is one that a protocol may have. A name that ends in ".*" stands
// for all below it.
type fsspecOption struct {
	name string
	set  func(p *fsspecPlace, key, value string) error // nil if it matters to Python's client alone
}

// fsspecPlace collects what options say, in the order of their names, so that
// what stands in client_kwargs gives way, as in s3fs.
type fsspecPlace struct {
	query      url.Values
	isURL      bool // root_path names the protocol
	host, port string
	env        environment
	store.Options
}

func fsspecProtocols() []fsspecProtocol {
	return []fsspecProtocol{
		{[]string{"file", "local"}, fileOptions(), fileURL},
		{[]string{"s3", "s3a"}, s3Options(), bucketURL("s3://")},
		{[]string{"gs", "gcs"}, gcsOptions(), bucketURL("gs://")},
		{[]string{"hdfs", "arrow_hdfs"}, hdfsOptions(), hdfsURL},
		{[]string{"dbfs"}, dbfsOptions(), dbfsURL},
		{[]string{"memory"}, nil, func(root string, _ *fsspecPlace) (string, error) { return "mem://" + strings.Trim(root, "/"), nil }},
	}
}

// commonOptions are those of fsspec itself: its caches, of which there are none here.
func commonOptions() []fsspecOption {
	return []fsspecOption{{name: "listings_expiry_time"}, {name: "max_paths"}, {name: "skip_instance_cache"}, {name: "use_listings_cache"}}
}

// fsspecRoot is the place that a protocol, a path and options mean.
func fsspecRoot(protocol, root string, o *pyjson.Object, environ []string) (FsspecRoot, error) {
	var known []string
	for _, p := range fsspecProtocols() {
		known = append(known, p.names...)
		if !slices.Contains(p.names, protocol) {
			continue
		}
		if err := addFsspecDefaults(o, p.names, environ); err != nil {
			return FsspecRoot{}, err
		}
		place := &fsspecPlace{query: url.Values{}, env: parseEnviron(environ), Options: store.Options{Environ: environ}}
		if err := p.take(place, protocol, o); err != nil {
			return FsspecRoot{}, err
		}
		for _, n := range p.names {
			if rest, ok := strings.CutPrefix(root, n+"://"); ok {
				root, place.isURL = rest, true
			}
		}
		u, err := p.url(root, place)
		return FsspecRoot{URL: u, Options: place.Options}, err
	}
	return FsspecRoot{}, invalid("protocol %q of fsspec is not supported here; supported are %s", protocol, strings.Join(known, ", "))
}

// take sets all options, and names the first that is not known.
func (p fsspecProtocol) take(place *fsspecPlace, protocol string, o *pyjson.Object) error {
	options := make(map[string]string)
	flatten(o, "", options)
	for _, key := range slices.Sorted(maps.Keys(options)) {
		option, ok := p.option(key)
		if !ok {
			return invalid("option %q of protocol %s is not supported here; supported are: %s", key, protocol, strings.Join(p.optionNames(), ", "))
		}
		if option.set == nil || options[key] == "" {
			continue
		}
		if err := option.set(place, key, options[key]); err != nil {
			return invalid("option %q of protocol %s: %w", key, protocol, err)
		}
	}
	return nil
}

func (p fsspecProtocol) option(key string) (fsspecOption, bool) {
	for _, o := range append(p.options, commonOptions()...) {
		family, all := strings.CutSuffix(o.name, "*")
		if o.name == key || all && strings.HasPrefix(key, family) {
			return o, true
		}
	}
	return fsspecOption{}, false
}

func (p fsspecProtocol) optionNames() []string {
	var names []string
	for _, o := range append(p.options, commonOptions()...) {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
}

// isOff reads what a text can only mean by "False"; to Python, which is handed
// texts alone, every one of them is true.
func isOff(value string) bool {
	switch strings.ToLower(value) {
	case "false", "0", "no", "off", "none":
		return true
	}
	return false
}
