package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// Reader reads the Parquet files of one directory as one table. It holds
// nothing open and may be used by several goroutines.
type Reader struct {
	store    *store.Store
	dir      store.Key
	manifest *Manifest // nil: the directory has none
	files    []File    // in the order of the rows
	versions []string  // of files, as they were when the directory was listed
	schema   *arrow.Schema
	rows     int64
}

// Open reads the directory dir: its listing, its manifest if it has one, and
// footers. With a manifest, its files must all be there, in their sizes, and no
// other data beside them; whatever is read later is checked by its checksums.
// Without one, every file counts that Spark would read, in order of name, and
// all footers are read and must agree on the columns.
//
// Errors have kind store.ErrNotExist if there are no data, store.ErrCorrupt if
// files do not match the manifest, are no Parquet or were never finished
// (ErrIncomplete), and store.ErrUnsupported for directories within dir, which
// would be partitions.
func Open(ctx context.Context, s *store.Store, dir store.Key) (*Reader, error) {
	found, err := list(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{store: s, dir: dir}
	if found.manifest {
		if err := r.fromManifest(ctx, found); err != nil {
			return nil, err
		}
		return r, r.readSchema(ctx, r.files[:1])
	}
	if err := found.finished(dir); err != nil {
		return nil, err
	}
	for _, object := range found.data {
		r.files = append(r.files, File{Name: object.Key.Base(), Bytes: object.Size, Rows: -1})
		r.versions = append(r.versions, object.Version)
	}
	return r, r.readSchema(ctx, r.files)
}

// found is what a directory holds.
type found struct {
	data                         []store.Object
	manifest, success, temporary bool
}

func list(ctx context.Context, s *store.Store, dir store.Key) (found, error) {
	var f found
	for object, err := range s.List(ctx, string(dir)+"/") {
		if err != nil {
			return found{}, err
		}
		name, below, nested := strings.Cut(strings.TrimPrefix(string(object.Key), string(dir)+"/"), "/")
		switch {
		case name == "_temporary":
			f.temporary = true
		case !IsData(name) && !nested:
			f.manifest = f.manifest || name == ManifestName
			f.success = f.success || name == SuccessName
		case nested && IsData(name) && IsData(below):
			return found{}, failure("open dataset", dir, store.ErrUnsupported,
				fmt.Errorf("%s lies in a directory of its own; partitioned data are not read", object.Key))
		case !nested:
			f.data = append(f.data, object)
		}
	}
	return f, nil
}

// finished looks for signs that whoever wrote a directory without a manifest
// died or is not done.
func (f found) finished(dir store.Key) error {
	if f.temporary && !f.success {
		return failure("open dataset", dir, store.ErrCorrupt, fmt.Errorf("%w: _temporary is there and _SUCCESS is not", ErrIncomplete))
	}
	for _, object := range f.data {
		if epoch, ours := partEpoch(object.Key.Base()); ours && !f.success {
			return failure("open dataset", dir, store.ErrCorrupt, fmt.Errorf("%w: files of epoch %d without a manifest", ErrIncomplete, epoch))
		}
	}
	if len(f.data) == 0 {
		return failure("open dataset", dir, store.ErrNotExist, errors.New("no Parquet files"))
	}
	return nil
}

// fromManifest takes the files that the manifest lists, if the directory holds
// exactly those.
func (r *Reader) fromManifest(ctx context.Context, f found) error {
	key := r.dir.Join(ManifestName)
	body, err := r.store.Get(ctx, key)
	if err != nil {
		return err
	}
	r.manifest = new(Manifest)
	if err := decode("read manifest", key, body, r.manifest); err != nil {
		return err
	}
	if !f.success {
		return failure("open dataset", r.dir, store.ErrCorrupt, fmt.Errorf("%w: no _SUCCESS", ErrIncomplete))
	}
	there := make(map[string]store.Object)
	for _, object := range f.data {
		there[object.Key.Base()] = object
	}
	for _, file := range r.manifest.Files {
		object, ok := there[file.Name]
		delete(there, file.Name)
		switch {
		case !ok:
			return failure("open dataset", r.dir.Join(file.Name), store.ErrCorrupt, errors.New("the manifest lists it, but it is gone"))
		case object.Size != file.Bytes:
			return failure("open dataset", r.dir.Join(file.Name), store.ErrCorrupt,
				fmt.Errorf("it has %d bytes, %d in the manifest", object.Size, file.Bytes))
		}
		r.files = append(r.files, file)
		r.versions = append(r.versions, object.Version)
	}
	for name := range there {
		return failure("open dataset", r.dir.Join(name), store.ErrCorrupt, errors.New("the manifest does not list it"))
	}
	if len(r.files) == 0 {
		return failure("open dataset", key, store.ErrCorrupt, errors.New("it lists no files"))
	}
	return nil
}

// readSchema reads the footers of files, the first ones of the dataset. Rows of
// files whose number nobody told yet are taken from there.
func (r *Reader) readSchema(ctx context.Context, files []File) error {
	for i := range files {
		p, err := r.part(ctx, i)
		if err != nil {
			return err
		}
		r.files[i].Rows, r.files[i].RowGroups = p.rows, p.groups
		if r.schema == nil {
			r.schema = p.schema
		}
		if !sameFields(r.schema, p.schema) {
			return failure("open dataset", p.key, store.ErrInvalid,
				fmt.Errorf("its columns are %v, those of %s %v", p.schema.Fields(), r.files[0].Name, r.schema.Fields()))
		}
	}
	for _, file := range r.files {
		r.rows += file.Rows
	}
	return nil
}

// part opens file number i.
func (r *Reader) part(ctx context.Context, i int) (*part, error) {
	return openPart(ctx, r.store, r.dir.Join(r.files[i].Name), r.files[i], r.versions[i])
}

// Rows is the number of rows in all files.
func (r *Reader) Rows() int64 { return r.rows }

// Schema is that of every file.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Fields describes the columns in order.
func (r *Reader) Fields() []Field { return fields(r.schema) }

// Files lists the files in the order of their rows.
func (r *Reader) Files() []File { return append([]File(nil), r.files...) }

// Manifest is nil where the directory has none.
func (r *Reader) Manifest() *Manifest { return r.manifest }

func fields(schema *arrow.Schema) []Field {
	list := make([]Field, 0, schema.NumFields())
	for _, field := range schema.Fields() {
		list = append(list, Field{Name: field.Name, Type: field.Type.String(), Nullable: field.Nullable})
	}
	return list
}
