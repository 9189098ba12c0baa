package store

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
)

// syncItem is a regular file of the directory.
type syncItem struct {
	path string // slash path
	id   settle.Identity
	mode fs.FileMode // permissions
	mark *syncMark   // nil unless the file commits others

	digest Digest // "" until it was read
	crc    uint32 // CRC-32C, with digest
	young  bool   // it was read so soon after its last change that a further one may not show
	sent   bool   // the store holds exactly this
	busy   bool   // it waits for a later pass
	share  syncShare
}

// newest is when it was last changed, in nanoseconds.
func (i *syncItem) newest() int64 { return max(i.id.Modified, i.id.Changed) }

// scan lists the directory. An error in it is one of its reading: the files that
// could be seen are returned too.
func (p *syncPass) scan() ([]*syncItem, error) {
	var items []*syncItem
	var failed []error
	p.judge.Begin()
	err := filepath.WalkDir(p.dir, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(p.dir, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err == nil:
			err = relErr
		case rel != "." && errors.Is(err, fs.ErrNotExist):
			return nil // it went while we looked
		}
		if err != nil {
			failed = append(failed, p.wrapFile(rel, err))
			if rel == "." {
				return fs.SkipAll
			}
			return nil
		}
		if p.ignored(rel) || d.IsDir() {
			return p.enter(rel, d)
		}
		if item := p.item(rel, d); item != nil {
			items = append(items, item)
		}
		return nil
	})
	return items, errors.Join(append(failed, err)...)
}

// ignored tells what is ours, or left out by the caller.
func (p *syncPass) ignored(rel string) bool {
	top, _, _ := strings.Cut(rel, "/")
	return top == stateName || p.opts.Skip != nil && rel != "." && p.opts.Skip(rel)
}

func (p *syncPass) enter(rel string, d fs.DirEntry) error {
	if !d.IsDir() {
		return nil
	}
	if p.ignored(rel) || filepath.Join(p.dir, filepath.FromSlash(rel)) == filepath.Clean(p.state) {
		return fs.SkipDir
	}
	if rel == ownDir {
		p.skip(rel, "the name is reserved")
		return fs.SkipDir
	}
	p.judge.Dir(rel)
	return nil
}

// item makes one of a regular file whose name a key can have.
func (p *syncPass) item(rel string, d fs.DirEntry) *syncItem {
	switch kind := d.Type(); {
	case kind&fs.ModeSymlink != 0:
		p.skip(rel, "it is a link")
		return nil
	case !kind.IsRegular():
		p.skip(rel, "it is not a regular file")
		return nil
	case rel == ownDir:
		p.skip(rel, "the name is reserved")
		return nil
	}
	if _, err := p.store.full(p.key(rel)); err != nil {
		p.skip(rel, err.Error())
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return nil // it went while we looked
	}
	return &syncItem{path: rel, id: settle.IdentityOf(info), mode: info.Mode().Perm()}
}

func (p *syncPass) skip(rel, reason string) {
	p.report.Skipped = append(p.report.Skipped, SyncFile{Path: rel, Reason: reason})
}

// checkReady refuses patterns that match nothing because they are wrong.
func (y *Sync) checkReady() error {
	for _, pattern := range y.opts.Ready {
		if _, err := path.Match(pattern, ""); err != nil {
			return invalid(err)
		}
	}
	return nil
}

// ready says whether a file is whole by the caller's own patterns.
func (y *Sync) ready(rel string) bool {
	for _, pattern := range y.opts.Ready {
		name := rel
		if !strings.Contains(pattern, "/") {
			name = path.Base(rel)
		}
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}
