package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/heirloom-ml/heirloom/store/internal/syncjournal"
)

// deleteGone removes what was sent and is no longer in the directory: pointers
// and marks before what they stand for. Each name is looked up once more: a file
// that was renamed while the directory was read is in no list.
func (p *syncPass) deleteGone(ctx context.Context) {
	p.deleteWhere(ctx, func(string) bool { return true })
}

// deleteShadowed removes first what stands in the way: a file where there is a
// directory now, or the other way round.
func (p *syncPass) deleteShadowed(ctx context.Context) {
	files, dirs := map[string]bool{}, map[string]bool{}
	for _, item := range p.items {
		files[item.path] = true
		for at, c := range item.path {
			if c == '/' {
				dirs[item.path[:at]] = true
			}
		}
	}
	p.deleteWhere(ctx, func(gone string) bool {
		for at, c := range gone {
			if c == '/' && files[gone[:at]] {
				return true
			}
		}
		return dirs[gone]
	})
}

func (p *syncPass) deleteWhere(ctx context.Context, wanted func(path string) bool) {
	here := map[string]bool{}
	for _, item := range p.items {
		here[item.path] = true
	}
	var gone []syncjournal.Record
	for _, rec := range p.journal.All() {
		if !here[rec.Path] && rec.Sent && !rec.Elsewhere && wanted(rec.Path) && p.gone(rec) && !p.heldByOther(ctx, rec.Path) {
			gone = append(gone, rec)
		}
	}
	rank := func(rec syncjournal.Record) int {
		if m := markOf(rec.Path, func() string { return "any" }); m != nil {
			return m.rank
		}
		return 0
	}
	slices.SortStableFunc(gone, func(a, b syncjournal.Record) int { return cmp.Compare(rank(b), rank(a)) })
	for _, rec := range gone {
		if err := p.remove(ctx, p.key(rec.Path)); err != nil {
			p.errs = append(p.errs, err)
			return
		}
		rec.Gone = true
		_ = p.journal.Put(rec)
		p.report.Deleted++
	}
}

// gone says whether the object is still the one that was sent, and its file is
// not there.
func (p *syncPass) gone(rec syncjournal.Record) bool {
	obj, there := p.objects[p.key(rec.Path)]
	if !there || obj.Version != rec.Version || strings.HasPrefix(rec.Path, ownDir+"/") {
		return false
	}
	info, err := os.Lstat(p.local(rec.Path))
	if err == nil {
		return info.IsDir() // a directory took the name
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
