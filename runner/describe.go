package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Describer tells of what lies at a path or URL what artifacts record of it. It
// is safe for concurrent use.
type Describer struct {
	Store   *store.Store // what lies in it is recorded by its key too
	Dir     string       // relative paths are below it; absolute
	Environ []string     // for opening other stores
	Hash    HashMode

	durable bool // sync local files, as their record will be
	warn    func(format string, args ...any)
}

// Describe returns the artifact that path is, a local file or directory or a
// URL, under that name. What is not there is store.ErrNotExist. By the mode of
// hashing it is read to its end, remote or not.
func (d *Describer) Describe(ctx context.Context, name, output string) (tracker.Artifact, error) {
	uri, err := store.CanonicalURI(output, d.Dir)
	if err != nil {
		return tracker.Artifact{}, err
	}
	a := tracker.Artifact{Name: name, Path: uri, Metadata: &pyjson.Object{}}
	if key, ok := d.keyOf(uri); ok {
		a.Metadata.Set(tracker.KeyKey, string(key))
	}
	dir := false
	if local, ok := strings.CutPrefix(uri, "file://"); ok {
		dir, err = d.measureLocal(ctx, filepath.FromSlash(local), a.Metadata)
	} else {
		dir, err = d.measureRemote(ctx, output, uri, a.Metadata)
	}
	if err != nil {
		return a, err
	}
	a.Metadata.Set(tracker.KeyKind, d.kindOfNamed(uri, dir))
	return a, nil
}

// keyOf gives the key of what lies in our own store.
func (d *Describer) keyOf(uri string) (store.Key, bool) {
	root, err := store.CanonicalURI(d.Store.KeyURL(""), "")
	if err != nil {
		return "", false
	}
	rel, below := strings.CutPrefix(uri, strings.TrimRight(root, "/")+"/")
	if !below {
		return "", false
	}
	key, err := store.ParseKey(rel)
	return key, err == nil
}

func (d *Describer) kindOfNamed(uri string, dir bool) string {
	kind := kindOf(path.Base(uri), d.Store.Layout().CheckpointFilename())
	if local, ok := strings.CutPrefix(uri, "file://"); ok && dir && kind == tracker.KindOther {
		if parts, _ := filepath.Glob(filepath.Join(filepath.FromSlash(local), "*.parquet")); len(parts) > 0 {
			return tracker.KindDataset
		}
	}
	return kind
}

func (d *Describer) measureLocal(ctx context.Context, file string, m *pyjson.Object) (dir bool, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return true, d.measureTree(ctx, file, m)
	}
	return false, d.measure(ctx, file, file, m)
}

// measureRemote asks the store that holds the output; one that is neither an
// object nor has any below it does not exist.
func (d *Describer) measureRemote(ctx context.Context, given, uri string, m *pyjson.Object) (dir bool, err error) {
	if d.Hash == HashNone {
		return false, nil
	}
	s, key, err := d.holder(ctx, given, uri)
	if err != nil {
		return false, err
	}
	if s != d.Store {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	object, err := s.Stat(ctx, key)
	if err == nil {
		return false, d.measureObject(ctx, s, object, m)
	}
	if !errors.Is(err, store.ErrNotExist) {
		return false, err
	}
	var sum tree
	for object, fail := range s.List(ctx, string(key)+"/") {
		if fail != nil {
			return true, fail
		}
		one := &pyjson.Object{}
		if fail := d.measureObject(ctx, s, object, one); fail != nil {
			return true, fail
		}
		sum.add(strings.TrimPrefix(string(object.Key), string(key)+"/"), one)
	}
	if sum.files == 0 {
		return false, err
	}
	sum.describe(m, d.Hash)
	return true, nil
}

// holder gives the store an output lies in, ours or one of its own, and its key
// there.
func (d *Describer) holder(ctx context.Context, given, uri string) (*store.Store, store.Key, error) {
	if key, ok := d.keyOf(uri); ok {
		return d.Store, key, nil
	}
	at := strings.LastIndexByte(uri, '/')
	key, err := store.ParseKey(uri[at+1:])
	if err != nil {
		return nil, "", err
	}
	root := uri[:at]
	if strings.HasSuffix(root, "/") {
		return nil, "", fmt.Errorf("%s is a whole bucket", uri)
	}
	if _, options, ok := strings.Cut(given, "?"); ok {
		root += "?" + options
	}
	s, err := store.Open(ctx, root, &store.Options{Environ: d.Environ})
	return s, key, err
}

func (d *Describer) measureObject(ctx context.Context, s *store.Store, object store.Object, m *pyjson.Object) error {
	m.Set(tracker.KeySizeBytes, object.Size)
	if d.Hash == HashSize {
		return nil
	}
	in, err := s.Open(ctx, object.Key)
	if err != nil {
		return err
	}
	digest, n, err := digestOf(ctx, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	m.Set(tracker.KeySizeBytes, n)
	m.Set(tracker.KeySHA256, string(digest))
	return nil
}

func (d *Describer) warnf(format string, args ...any) {
	if d.warn != nil {
		d.warn(format, args...)
	}
}
