package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// fromManifest takes the files that the manifest lists, if the directory holds
// exactly those.
func (r *Reader) fromManifest(ctx context.Context, f *found) error {
	m, err := readManifest(ctx, r.store, r.dir)
	if err != nil {
		return err
	}
	r.manifest = m
	if err := f.finished(); err != nil {
		return err
	}
	there := make(map[string]store.Object)
	for _, object := range f.data {
		there[f.name(object)] = object
	}
	for _, file := range m.Files {
		object, ok := there[file.Name]
		delete(there, file.Name)
		switch {
		case !ok:
			return failure("open dataset", r.dir.Join(file.Name), store.ErrCorrupt, errors.New("the manifest lists it, but it is gone"))
		case object.Size != file.Bytes:
			return failure("open dataset", r.dir.Join(file.Name), store.ErrCorrupt,
				fmt.Errorf("it has %d bytes, %d in the manifest", object.Size, file.Bytes))
		}
		segments := strings.Split(file.Name, "/")
		keys, _ := splitPartitions(segments[:len(segments)-1])
		r.files = append(r.files, file)
		r.versions = append(r.versions, object.Version)
		r.keys = append(r.keys, keys)
	}
	for name := range there {
		return failure("open dataset", r.dir.Join(name), store.ErrCorrupt, errors.New("the manifest does not list it"))
	}
	if len(r.files) == 0 {
		return failure("open dataset", r.dir.Join(ManifestName), store.ErrCorrupt, errors.New("it lists no files"))
	}
	return nil
}

func readManifest(ctx context.Context, s *store.Store, dir store.Key) (*Manifest, error) {
	key := dir.Join(ManifestName)
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	return m, decode("read manifest", key, body, m)
}
