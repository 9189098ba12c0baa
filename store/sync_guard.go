package store

import (
	"context"
	"errors"
	"path"
	"slices"
)

// marksOver gives the marks that commit an item, the outermost first, itself
// among them.
func (p *syncPass) marksOver(item *syncItem) []*syncItem {
	if p.commits == nil {
		p.commits = map[string][]*syncItem{}
		for _, m := range p.items {
			if m.mark != nil && m.mark.commits {
				p.commits[path.Dir(m.path)] = append(p.commits[path.Dir(m.path)], m)
			}
		}
	}
	var list []*syncItem
	for dir := path.Dir(item.path); len(p.commits) > 0; dir = path.Dir(dir) {
		for _, m := range p.commits[dir] {
			if m == item || m.mark.covers(item.path) {
				list = append(list, m)
			}
		}
		if dir == "." {
			break
		}
	}
	slices.Reverse(list)
	return list
}

// committed says whether a mark vouches for an item: one that is not older.
func (p *syncPass) committed(item *syncItem) bool {
	return slices.ContainsFunc(p.marksOver(item), func(m *syncItem) bool {
		return m != item && m.newest() >= item.newest()
	})
}

// guardMarks deals with a checkpoint that is written over in place, as PyTorch
// does: in the store the old mark would vouch for a mixture. While the job is at
// it, nothing of it is replaced; when it has set its mark anew, the old one is
// withdrawn before the first file.
func (p *syncPass) guardMarks(ctx context.Context, u *syncUnit) {
	standing := slices.ContainsFunc(u.marks, func(m *syncItem) bool { return p.inStore(m) })
	over := slices.ContainsFunc(u.items, func(i *syncItem) bool { return p.overwrites(i) })
	if !standing || !over {
		return
	}
	if !p.final && !p.recommitted(u) {
		for _, item := range u.items {
			if p.overwrites(item) {
				p.wait(item, "it is of a checkpoint that is being written over")
			}
		}
		return
	}
	for _, m := range slices.Backward(u.marks) {
		if !p.inStore(m) {
			continue
		}
		if err := p.remove(ctx, p.key(m.path)); err != nil {
			p.fail(m, err)
			p.holdBack(u)
			return
		}
		m.sent = false
		if m.digest != "" {
			_ = p.journal.Put(p.record(m))
		}
	}
}

func (p *syncPass) holdBack(u *syncUnit) {
	for _, item := range u.items {
		if p.overwrites(item) {
			p.wait(item, "the mark of the checkpoint could not be withdrawn")
		}
	}
}

func (p *syncPass) inStore(item *syncItem) bool {
	_, ok := p.objects[p.key(item.path)]
	return ok
}

// overwrites says whether an item, not a mark that commits, is about to replace
// an object.
func (p *syncPass) overwrites(item *syncItem) bool {
	return !item.sent && p.inStore(item) && (item.mark == nil || !item.mark.commits)
}

// recommitted says whether all of a unit can be sent, and its marks are younger
// than what they commit.
func (p *syncPass) recommitted(u *syncUnit) bool {
	for _, item := range u.items {
		if item.busy || !item.sent && item.digest == "" {
			return false
		}
		for _, m := range u.marks {
			if m.mark.covers(item.path) && m.newest() < item.newest() {
				return false
			}
		}
	}
	return true
}

// remove deletes an object; that it is gone is as good.
func (p *syncPass) remove(ctx context.Context, key Key) error {
	err := p.store.Delete(ctx, key)
	if err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	delete(p.objects, key)
	return nil
}
