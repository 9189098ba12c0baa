package tracker

import (
	"context"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// DefaultFactories knows the trackers of TorchX that heirloom can stand in for:
// "fsspec", by this name and by that of its module, whose configuration is a
// file, local or at any URL, with lines such as protocol=s3 and
// root_path=bucket/prefix. environ is what the stores may look at.
func DefaultFactories(environ []string) map[string]Factory {
	fsspec := func(ctx context.Context, config string) (Tracker, error) { return openFsspec(ctx, config, environ) }
	return map[string]Factory{"fsspec": fsspec, "torchx.tracker.backend.fsspec:create": fsspec}
}

// FsspecRoot is where a configuration of TorchX's fsspec tracker leads.
type FsspecRoot struct {
	URL     string        // of the tracker's root, canonical, without secrets
	Options store.Options // the environment, and what no URL holds, such as credentials
}

// ReadFsspec reads a configuration of TorchX's fsspec tracker: a path, or any
// URL that fsspec could open here (file, local, http, https, and the protocols
// that a configuration may name). FSSPEC_<PROTOCOL>_<OPTION> of environ are the
// options that it leaves open, as in fsspec. An option that has no meaning here
// is store.ErrInvalid and named.
func ReadFsspec(ctx context.Context, config string, environ []string) (FsspecRoot, error) {
	if config == "" {
		return FsspecRoot{}, invalid("the fsspec tracker has no configuration: set TORCHX_TRACKER_FSSPEC_CONFIG to its file")
	}
	root, err := readFsspec(ctx, config, environ)
	if err != nil {
		return FsspecRoot{}, fmt.Errorf("read %s: %w", store.RedactURL(config), err)
	}
	return root, nil
}

func readFsspec(ctx context.Context, config string, environ []string) (FsspecRoot, error) {
	text, err := readConfig(ctx, config, environ)
	if err != nil {
		return FsspecRoot{}, err
	}
	o, err := parseFsspec(string(text))
	if err != nil {
		return FsspecRoot{}, err
	}
	protocol, root := o.Text("protocol"), o.Text("root_path")
	if protocol == "" || root == "" {
		return FsspecRoot{}, invalid("the fsspec tracker needs both protocol and root_path")
	}
	o.Delete("protocol")
	o.Delete("root_path")
	place, err := fsspecRoot(protocol, root, o, environ)
	if err != nil {
		return FsspecRoot{}, err
	}
	s, err := store.Open(ctx, place.URL, &place.Options)
	if err != nil {
		return FsspecRoot{}, err
	}
	place.URL = s.URL()
	return place, s.Close()
}

// Holds reports that the place at url, a canonical one, lies where the
// configuration leads, so that its credentials are for that place too.
func (r FsspecRoot) Holds(url string) bool {
	return r.URL != "" && authority(r.URL) == authority(url)
}

// authority is what a URL says of the far side: all but the path.
func authority(url string) string {
	place, query, _ := strings.Cut(url, "?")
	scheme, rest, _ := strings.Cut(place, ":")
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, _, _ = strings.Cut(after, "/")
	}
	return scheme + "://" + host + "?" + query
}

// storeTracker is a FileTracker that owns its store.
type storeTracker struct {
	*FileTracker
}

// Close releases the store.
func (t storeTracker) Close() error { return t.s.Close() }

func openFsspec(ctx context.Context, config string, environ []string) (Tracker, error) {
	root, err := ReadFsspec(ctx, config, environ)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, root.URL, &root.Options)
	if err != nil {
		return nil, err
	}
	return storeTracker{NewFileTracker(s, nil)}, nil
}
