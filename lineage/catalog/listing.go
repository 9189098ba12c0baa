package catalog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// versions is what a listing tells of a catalog.
type versions struct {
	list []*version // by number
}

// version is one number and what lies under it.
type version struct {
	number   int64
	claim    *store.Object // nil = none
	manifest *store.Object // nil = none
	tables   []store.Object
}

// list makes one request for each 1,000 objects, mostly one.
func list(ctx context.Context, s *store.Store) (*versions, error) {
	vs := &versions{}
	root := string(Root(s.Layout())) + "/"
	for object, err := range s.List(ctx, root) {
		if err != nil {
			return nil, err
		}
		dir, name, nested := strings.Cut(strings.TrimPrefix(string(object.Key), root), "/")
		if number := parseDir(dir); nested && number > 0 {
			vs.add(number, name, object)
		}
	}
	return vs, nil
}

func (vs *versions) add(number int64, name string, object store.Object) {
	if len(vs.list) == 0 || vs.list[len(vs.list)-1].number != number {
		vs.list = append(vs.list, &version{number: number})
	}
	v := vs.list[len(vs.list)-1]
	switch name {
	case claimName:
		v.claim = &object
	case manifestName:
		v.manifest = &object
	default:
		v.tables = append(v.tables, object)
	}
}

// last is the highest number in use, 0 if there is none.
func (vs *versions) last() int64 {
	if len(vs.list) == 0 {
		return 0
	}
	return vs.list[len(vs.list)-1].number
}

// maxSeal is more than the bytes of a manifest that only says that its version was reclaimed, and less than those of one
// that lists tables.
const maxSeal = 512

// complete tells whether the version can be read.
func (v *version) complete() bool { return v.manifest != nil && v.manifest.Size > maxSeal }

// sealed tells of a version that was reclaimed before it was complete.
func (v *version) sealed() bool { return v.manifest != nil && v.manifest.Size <= maxSeal }

// empty tells of one of which no more is left than has to be.
func (v *version) empty() bool { return v.sealed() && v.claim == nil && len(v.tables) == 0 }

// seen is when something was last written there, by the store's clock.
func (v *version) seen() (last time.Time) {
	for _, object := range v.objects() {
		if object.Modified.After(last) {
			last = object.Modified
		}
	}
	return last
}

// objects are all that lie there.
func (v *version) objects() []store.Object {
	list := append([]store.Object(nil), v.tables...)
	for _, object := range []*store.Object{v.claim, v.manifest} {
		if object != nil {
			list = append(list, *object)
		}
	}
	return list
}

// bytes is the size of all that lies there.
func (v *version) bytes() (n int64) {
	for _, object := range v.objects() {
		n += object.Size
	}
	return n
}

// newest reads the manifest of the highest version that is complete, mostly one request: one that is damaged, or was
// reclaimed since the listing, counts as none. It is nil if there is none.
func (vs *versions) newest(ctx context.Context, s *store.Store) (*Manifest, error) {
	for i := len(vs.list) - 1; i >= 0; i-- {
		if !vs.list[i].complete() {
			continue
		}
		m, err := readManifest(ctx, s, vs.list[i].manifest.Key)
		switch {
		case errors.Is(err, store.ErrNotExist), errors.Is(err, store.ErrCorrupt):
		case err != nil || m.Reclaimed == nil:
			return m, err
		}
	}
	return nil, nil
}
