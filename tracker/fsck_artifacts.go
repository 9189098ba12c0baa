package tracker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// placed is an artifact whose bytes are to be looked for.
type placed struct {
	run RunID
	a   Artifact
	key store.Key // in Data, "" if it lies elsewhere
}

// checkNames checks what artifacts say of themselves, and returns where they lie.
func (f *fsck) checkNames(l *listing, run *Run) []placed {
	var list []placed
	for _, a := range run.Artifacts {
		at := run.ID.dir().Join(artifactsDir)
		if err := checkArtifactName(a.Name, maxArtifactBytes); err != nil {
			f.found(RuleArtifactName, run.ID, at, fmt.Sprintf("the artifact %q: TorchX's text files cannot hold that name", a.Name), "", nil)
		}
		key, err := f.place(a)
		if err != nil {
			f.found(RuleArtifactKey, run.ID, at, fmt.Sprintf("the artifact %q has the key %q, which is none: its path counts", a.Name, a.Key()), "", nil)
		}
		list = append(list, placed{run.ID, a, key})
	}
	return list
}

// place is the key in Data of an artifact, "" if it lies elsewhere.
func (f *fsck) place(a Artifact) (store.Key, error) {
	var err error
	if a.Key() != "" {
		var key store.Key
		if key, err = store.ParseKey(a.Key()); err == nil {
			return key, nil
		}
	}
	if f.opts.Data == nil {
		return "", err
	}
	base := strings.TrimSuffix(f.opts.Data.KeyURL(""), "/") + "/"
	if rest, ok := strings.CutPrefix(a.Path, base); ok {
		if key, keyErr := store.ParseKey(strings.TrimSuffix(rest, "/")); keyErr == nil {
			return key, err
		}
	}
	return "", err
}

// checkArtifacts looks for the bytes, several at once.
func (f *fsck) checkArtifacts(ctx context.Context, list []placed) error {
	if f.opts.Data == nil {
		return nil
	}
	var mu sync.Mutex // guards f.report
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for _, p := range list {
		group.Go(func() error {
			rule, problem, err := f.checkArtifact(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			f.report.Artifacts++
			switch {
			case errors.Is(err, store.ErrUnsupported):
				f.report.Unchecked++
				return nil
			case rule != "":
				f.found(rule, p.run, p.run.dir().Join(artifactsDir), fmt.Sprintf("the artifact %q %s", p.a.Name, problem), "", nil)
			}
			return err
		})
	}
	return group.Wait()
}

// checkArtifact says which rule is broken, if any. ErrUnsupported is an artifact
// that nobody can look for.
func (f *fsck) checkArtifact(ctx context.Context, p placed) (Rule, string, error) {
	obj, err := f.statArtifact(ctx, p)
	if isKind(err, store.ErrNotExist) {
		if p.key != "" && f.opts.Deleted != nil && f.opts.Deleted(p.key) {
			return "", "", nil
		}
		return RuleArtifactMissing, "is not at " + store.RedactURL(p.where(f.opts.Data)), nil
	}
	if isKind(err, store.ErrPermission) {
		return RuleUnreadable, "may not be read", nil
	}
	if err != nil {
		return "", "", err
	}
	if size, ok := p.a.SizeBytes(); ok && obj.Key != "" && obj.Size != size {
		return RuleArtifactSize, fmt.Sprintf("has %d bytes, and %d were recorded", obj.Size, size), nil
	}
	if !f.opts.ReadData || p.key == "" || obj.Key == "" || p.a.SHA256() == "" {
		return "", "", nil
	}
	return f.readArtifact(ctx, p)
}

func (p placed) where(data *store.Store) string {
	if p.key != "" {
		return data.KeyURL(p.key)
	}
	return p.a.Path
}

// statArtifact finds an object, or a directory, of which the key stays "".
func (f *fsck) statArtifact(ctx context.Context, p placed) (store.Object, error) {
	if p.key == "" {
		if f.opts.Stat == nil {
			return store.Object{}, store.ErrUnsupported
		}
		return f.opts.Stat(ctx, p.a.Path)
	}
	obj, err := f.opts.Data.Stat(ctx, p.key)
	if !isKind(err, store.ErrNotExist) {
		return obj, err
	}
	for _, listErr := range f.opts.Data.List(ctx, string(p.key)+"/") {
		return store.Object{}, listErr
	}
	return store.Object{}, err
}

func (f *fsck) readArtifact(ctx context.Context, p placed) (Rule, string, error) {
	r, err := f.opts.Data.Open(ctx, p.key)
	if err == nil {
		defer r.Close()
		sum := sha256.New()
		if _, err = io.Copy(sum, r); err == nil {
			if got := store.DigestFrom(sum); string(got) != p.a.SHA256() {
				return RuleArtifactDigest, "does not have the checksum that was recorded", nil
			}
			return "", "", nil
		}
	}
	switch {
	case isKind(err, store.ErrCorrupt):
		return RuleArtifactDigest, "cannot be read whole", nil
	case isKind(err, store.ErrPermission):
		return RuleUnreadable, "may not be read", nil
	}
	return "", "", err
}
