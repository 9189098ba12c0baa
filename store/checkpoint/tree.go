package checkpoint

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// dir is a directory of the listing.
type dir struct {
	key    store.Key
	parent *dir                    // nil at the top
	files  map[string]store.Object // by the last element of their keys
	dirs   map[string]*dir
}

// list reads everything below prefix, or the one object of that name.
func list(ctx context.Context, s *store.Store, prefix store.Key) (*dir, error) {
	under := ""
	if prefix != "" {
		under = string(prefix) + "/"
	}
	top := newDir(prefix, nil)
	for o, err := range s.List(ctx, under) {
		if err != nil {
			return nil, err
		}
		at := top
		elems := strings.Split(strings.TrimPrefix(string(o.Key), under), "/")
		for _, elem := range elems[:len(elems)-1] {
			at = at.enter(elem)
		}
		at.files[elems[len(elems)-1]] = o
	}
	return top, nil
}

func newDir(key store.Key, parent *dir) *dir {
	return &dir{key: key, parent: parent, files: map[string]store.Object{}, dirs: map[string]*dir{}}
}

func (d *dir) enter(elem string) *dir {
	sub := d.dirs[elem]
	if sub == nil {
		sub = newDir(d.key.Join(elem), d)
		d.dirs[elem] = sub
	}
	return sub
}

func (d *dir) name() string { return d.key.Base() }

func (d *dir) has(name string) bool {
	_, ok := d.files[name]
	return ok
}

// names lists the files right in d, sorted.
func (d *dir) names() []string { return slices.Sorted(maps.Keys(d.files)) }

// subs lists the directories right in d, sorted.
func (d *dir) subs() []*dir {
	var list []*dir
	for _, name := range slices.Sorted(maps.Keys(d.dirs)) {
		list = append(list, d.dirs[name])
	}
	return list
}

// own lists the files right in d.
func (d *dir) own() []store.Object { return slices.Collect(maps.Values(d.files)) }

// all lists the files in d and below.
func (d *dir) all() []store.Object {
	list := d.own()
	for _, sub := range d.dirs {
		list = append(list, sub.all()...)
	}
	return list
}
