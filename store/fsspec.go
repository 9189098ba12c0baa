package store

import (
	"cmp"
	"path/filepath"
	"strings"
)

// Setting is one line of fsspec's configuration. A dot in the key nests.
type Setting struct{ Key, Value string }

// FsspecConfig says how Python's fsspec reaches this store, in the keys of
// TorchX's fsspec tracker: protocol, root_path and what the protocol needs. It
// holds no secrets; those come from the environment of whoever uses it.
func (s *Store) FsspecConfig() []Setting {
	list := []Setting{{"protocol", s.fsspecProtocol()}, {"root_path", s.rootPath()}}
	switch b := s.back.(type) {
	case *s3Backend:
		list = append(list, b.fsspec(s.environ)...)
	case *gcsBackend:
		list = append(list, b.fsspec(s.environ)...)
	case *hdfsBackend:
		list = append(list, b.fsspec()...)
	case *dbfsBackend:
		list = append(list, b.fsspec()...)
	}
	return list
}

// fsspecProtocol is that of files where DBFS is mounted.
func (s *Store) fsspecProtocol() string {
	if _, ok := s.back.(*mountBackend); ok {
		return "file"
	}
	return s.place.scheme
}

// rootPath is a plain path for a local directory and for DBFS, which fsspec wants so.
func (s *Store) rootPath() string {
	if path, ok := s.LocalPath(""); ok {
		return path
	}
	switch b := s.back.(type) {
	case *mountBackend:
		return filepath.Join(b.bucket.Dir(), filepath.FromSlash(s.prefix))
	case *dbfsBackend:
		return strings.TrimPrefix(s.KeyURL(""), "dbfs:")
	}
	return strings.TrimSuffix(s.KeyURL(""), "/")
}

func (b *s3Backend) fsspec(environ func(string) string) []Setting {
	var list []Setting
	endpoint := cmp.Or(b.endpoint(), environ("AWS_ENDPOINT_URL_S3"), environ("AWS_ENDPOINT_URL"))
	region := cmp.Or(b.opts.region, environ("AWS_REGION"), environ("AWS_DEFAULT_REGION"))
	for _, s := range []Setting{
		{"client_kwargs.endpoint_url", endpoint},
		{"client_kwargs.region_name", region},
		{"profile", b.opts.profile},
	} {
		if s.Value != "" {
			list = append(list, s)
		}
	}
	if b.opts.anonymous {
		list = append(list, Setting{"anon", "true"})
	}
	return list
}

func (b *gcsBackend) fsspec(environ func(string) string) []Setting {
	var list []Setting
	if host := cmp.Or(b.address, environ("STORAGE_EMULATOR_HOST")); host != "" {
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		list = append(list, Setting{"endpoint_url", host})
	}
	if b.anonymous {
		list = append(list, Setting{"token", "anon"})
	}
	return list
}

// environ looks a variable up in what Options let the store see.
func (s *Store) environ(name string) string {
	for _, v := range s.opts.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
