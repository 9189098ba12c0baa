package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

var isURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

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
	name := path.Clean(text)
	if isURL.MatchString(text) || path.IsAbs(name) || filepath.IsAbs(output) || strings.HasPrefix(name, "../") || name == "." {
		name = path.Base(strings.SplitN(text, "?", 2)[0])
	}
	if name = artifactName(name); n[name] || name == "." || name == "/" || name == ".." {
		name = artifactName(store.RedactURL(text))
	}
	n[name] = true
	return name
}

// namedOutput describes what --output names, where it lies.
func (r *run) namedOutput(ctx context.Context, name, output string) (tracker.Artifact, error) {
	uri, err := store.CanonicalURI(output, r.absDir())
	if err != nil {
		return tracker.Artifact{}, err
	}
	a := tracker.Artifact{Name: name, Path: uri, Metadata: &pyjson.Object{}}
	if key, ok := r.keyOf(uri); ok {
		a.Metadata.Set(tracker.KeyKey, string(key))
	}
	dir := false
	if local, ok := strings.CutPrefix(uri, "file://"); ok {
		dir, err = r.measureLocal(ctx, filepath.FromSlash(local), a.Metadata)
	} else {
		dir, err = r.measureRemote(ctx, output, uri, a.Metadata)
	}
	if err != nil {
		return a, err
	}
	a.Metadata.Set(tracker.KeyKind, r.kindOfNamed(uri, dir))
	return a, nil
}

func (r *run) absDir() string {
	dir, err := filepath.Abs(r.workdir())
	if err != nil {
		return ""
	}
	return dir
}

// keyOf gives the key of what lies in our own store.
func (r *run) keyOf(uri string) (store.Key, bool) {
	root, err := store.CanonicalURI(r.Store.KeyURL(""), "")
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

func (r *run) kindOfNamed(uri string, dir bool) string {
	kind := kindOf(path.Base(uri), r.Store.Layout().CheckpointFilename())
	if local, ok := strings.CutPrefix(uri, "file://"); ok && dir && kind == tracker.KindOther {
		if parts, _ := filepath.Glob(filepath.Join(filepath.FromSlash(local), "*.parquet")); len(parts) > 0 {
			return tracker.KindDataset
		}
	}
	return kind
}

func (r *run) measureLocal(ctx context.Context, file string, m *pyjson.Object) (dir bool, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return true, r.measureTree(ctx, file, m)
	}
	return false, r.measure(ctx, file, file, m)
}

// measureRemote asks the store that holds the output; one that is neither an
// object nor has any below it does not exist.
func (r *run) measureRemote(ctx context.Context, given, uri string, m *pyjson.Object) (dir bool, err error) {
	if r.job.Hash == HashNone {
		return false, nil
	}
	s, key, err := r.holder(ctx, given, uri)
	if err != nil {
		return false, err
	}
	if s != r.Store {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	object, err := s.Stat(ctx, key)
	if err == nil {
		return false, r.measureObject(ctx, s, object, m)
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
		if fail := r.measureObject(ctx, s, object, one); fail != nil {
			return true, fail
		}
		sum.add(strings.TrimPrefix(string(object.Key), string(key)+"/"), one)
	}
	if sum.files == 0 {
		return false, err
	}
	sum.describe(m, r.job.Hash)
	return true, nil
}

// holder gives the store an output lies in, ours or one of its own, and its key
// there.
func (r *run) holder(ctx context.Context, given, uri string) (*store.Store, store.Key, error) {
	if key, ok := r.keyOf(uri); ok {
		return r.Store, key, nil
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
	s, err := store.Open(ctx, root, &store.Options{Environ: r.job.Environ})
	return s, key, err
}

func (r *run) measureObject(ctx context.Context, s *store.Store, object store.Object, m *pyjson.Object) error {
	m.Set(tracker.KeySizeBytes, object.Size)
	if r.job.Hash == HashSize {
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
