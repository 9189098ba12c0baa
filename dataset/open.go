package dataset

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// footersAtOnce bounds the requests for footers.
const footersAtOnce = 16

// Reader reads the Parquet files of one directory as one table. It holds
// nothing open and may be used by several goroutines.
type Reader struct {
	store      *store.Store
	dir        store.Key
	single     bool      // dir is a file by itself
	manifest   *Manifest // nil: the directory has none
	files      []File    // in the order of the rows
	versions   []string  // of files, as they were when the directory was listed
	keys       [][]partitionKey
	partitions []arrow.Field
	stored     *arrow.Schema // of every file
	schema     *arrow.Schema // with partition columns
	origins    []origin      // of the columns of schema
	rows       int64
	notes      []string

	mu     sync.Mutex // guards groups
	groups [][]int64  // rows of each row group of each file; nil = not known yet
}

// origin is where a column of the table comes from: a column of the files, or a
// partition.
type origin struct {
	partition bool
	at        int
}

// Open reads the directory dir: its listing, its manifest if it has one, and
// footers. With a manifest, its files must all be there, in their sizes, and no
// other data beside them; whatever is read later is checked by its checksums.
// Without one, every file counts that Spark would read, in order of name, and
// all footers are read and must agree on the columns. Directories of the form
// name=value are Hive's partitions: they add a column, whose type is inferred as
// Spark does; it takes the place of a column of that name in the files. If dir
// is no directory but a file, that file alone is read.
//
// Errors have kind store.ErrNotExist if there are no data, store.ErrCorrupt if
// files do not match the manifest, are no Parquet or were never finished
// (ErrIncomplete), store.ErrInvalid if files disagree on their columns, and
// store.ErrUnsupported for a Delta or Iceberg table, whose files are more than
// its rows, and for what the format allows and this package cannot read.
func Open(ctx context.Context, s *store.Store, dir store.Key) (*Reader, error) {
	found, err := list(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{store: s, dir: dir, notes: found.notes()}
	if found.manifest {
		if err := r.fromManifest(ctx, found); err != nil {
			return nil, err
		}
	} else if err := r.fromListing(found); err != nil {
		return nil, err
	}
	if r.partitions, err = partitionFields(dir, r.files, r.keys); err != nil {
		return nil, err
	}
	r.takePartitionTypes()
	read := len(r.files)
	if r.manifest != nil {
		read = 1 // it says the rest
	}
	return r, r.readSchema(ctx, read)
}

// fromListing takes every file that counts as data.
func (r *Reader) fromListing(f *found) error {
	if err := f.finished(); err != nil {
		return err
	}
	r.single = f.single
	for i, object := range f.data {
		r.files = append(r.files, File{Name: f.name(object), Bytes: object.Size, Rows: -1})
		r.versions = append(r.versions, object.Version)
		r.keys = append(r.keys, f.keys[i])
	}
	return nil
}

// takePartitionTypes prefers the types that the manifest gives partition columns
// to those that their values look like.
func (r *Reader) takePartitionTypes() {
	if r.manifest == nil || len(r.manifest.Partition) != len(r.partitions) {
		return
	}
	for i, field := range r.manifest.Partition {
		kind, err := parseType(field.Type)
		if err != nil || field.Name != r.partitions[i].Name {
			continue
		}
		switch kind.ID() {
		case arrow.STRING, arrow.BOOL, arrow.DATE32, arrow.FLOAT32, arrow.FLOAT64:
			r.partitions[i].Type = kind
		default:
			if arrow.IsInteger(kind.ID()) {
				r.partitions[i].Type = kind
			}
		}
	}
}

// readSchema reads the footers of the first n files. Rows of files whose number
// nobody told yet are taken from there.
func (r *Reader) readSchema(ctx context.Context, n int) error {
	schemas := make([]*arrow.Schema, n)
	groups := make([][]int64, len(r.files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(footersAtOnce)
	for i := range n {
		g.Go(func() error {
			p, err := r.part(ctx, i)
			if err != nil {
				return err
			}
			schemas[i], groups[i] = p.schema, p.groupSizes()
			r.files[i].Rows, r.files[i].RowGroups = p.rows, p.groups
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, schema := range schemas {
		if !sameFields(schemas[0], schema) {
			return failure("open dataset", r.key(i), store.ErrInvalid,
				fmt.Errorf("its columns are other than those of %s: %s", r.files[0].Name, differ(schemas[0], schema)))
		}
	}
	r.stored = schemas[0]
	if n == len(r.files) {
		r.groups = groups
	}
	for _, file := range r.files {
		r.rows += file.Rows
	}
	return r.addPartitions()
}

// addPartitions makes the schema of the table out of that of its files.
func (r *Reader) addPartitions() error {
	list := append([]arrow.Field(nil), r.stored.Fields()...)
	for i := range list {
		r.origins = append(r.origins, origin{at: i})
	}
	for at, field := range r.partitions {
		taken := r.stored.FieldIndices(field.Name)
		if len(taken) == 0 {
			list = append(list, field)
			r.origins = append(r.origins, origin{partition: true, at: at})
			continue
		}
		list[taken[0]], r.origins[taken[0]] = field, origin{partition: true, at: at}
	}
	r.schema = arrow.NewSchema(list, nil)
	return nil
}

// differ names the first column in which two schemas differ.
func differ(a, b *arrow.Schema) string {
	for i, field := range a.Fields() {
		if i >= b.NumFields() {
			return fmt.Sprintf("%q is missing", field.Name)
		}
		other := b.Field(i)
		if field.Name != other.Name {
			return fmt.Sprintf("%q in place of %q", other.Name, field.Name)
		}
		if !arrow.TypeEqual(field.Type, other.Type) || field.Nullable != other.Nullable {
			return fmt.Sprintf("%q is %s, not %s", field.Name, typeName(other), typeName(field))
		}
	}
	return fmt.Sprintf("%q is new", b.Field(a.NumFields()).Name)
}

func typeName(field arrow.Field) string {
	if field.Nullable {
		return field.Type.String()
	}
	return field.Type.String() + " without nulls"
}

// key is where file number i lies.
func (r *Reader) key(i int) store.Key {
	if r.single {
		return r.dir
	}
	return r.dir.Join(r.files[i].Name)
}

// part opens file number i.
func (r *Reader) part(ctx context.Context, i int) (*part, error) {
	return openPart(ctx, r.store, r.key(i), r.files[i], r.versions[i])
}

// Rows is the number of rows in all files.
func (r *Reader) Rows() int64 { return r.rows }

// Schema is that of the table: the columns of every file, and the partitions.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Fields describes the columns in order.
func (r *Reader) Fields() []Field { return fields(r.schema) }

// Files lists the files in the order of their rows.
func (r *Reader) Files() []File { return append([]File(nil), r.files...) }

// Manifest is nil where the directory has none.
func (r *Reader) Manifest() *Manifest { return r.manifest }

// Notes says what else lies there that a person may want to know of, such as
// Petastorm's metadata, which is never loaded. Sorted.
func (r *Reader) Notes() []string { return r.notes }

func fields(schema *arrow.Schema) []Field {
	list := make([]Field, 0, schema.NumFields())
	for _, field := range schema.Fields() {
		list = append(list, Field{Name: field.Name, Type: field.Type.String(), Nullable: field.Nullable})
	}
	return list
}
