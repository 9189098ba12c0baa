package store

import (
	"path/filepath"
	"strings"
)

// place is where a store lies, as its URLs say it.
type place struct {
	scheme string
	root   string // what stands after "scheme://": an absolute path, or the bucket
	query  string // "?endpoint=…", in the order of the names, or ""
}

// URL is the canonical address of the root of this store, valid for Open. It
// never holds a secret.
func (s *Store) URL() string {
	return s.place.url(strings.TrimSuffix(s.prefix, "/")) + s.place.query
}

// KeyURL is the full URL of an object, without options of the connection:
// file:///abs/p/k, s3://bucket/p/k.
func (s *Store) KeyURL(key Key) string { return s.place.url(s.prefix + string(key)) }

// Scheme is file, mem, s3, gs, hdfs or dbfs.
func (s *Store) Scheme() string { return s.place.scheme }

// LocalPath is the file of an object, where the store is a local directory. The
// empty key gives the directory itself.
func (s *Store) LocalPath(key Key) (string, bool) {
	if s.place.scheme != "file" {
		return "", false
	}
	return filepath.Join(s.place.root, filepath.FromSlash(s.prefix+string(key))), true
}

func (p place) url(key string) string {
	root := filepath.ToSlash(p.root)
	switch {
	case key == "":
	case root == "" || strings.HasSuffix(root, "/"):
		root += key
	default:
		root += "/" + key
	}
	if p.scheme == "dbfs" {
		return "dbfs:" + root // which names no host
	}
	return p.scheme + "://" + root
}
