package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// filesAtOnce is how many files are read side by side.
const filesAtOnce = 4

// Dir is the directory in the store where the files of a split belong. It is
// this writer's alone, and empty at first.
func (w *Writer) Dir(split Name) (store.Key, error) {
	to, ok := w.splits[split]
	if !ok {
		return "", failure("write dataset", "", store.ErrInvalid, fmt.Errorf("the spec asks for no split %q", split))
	}
	return to.dir, nil
}

// Files lists the files that a split has so far.
func (w *Writer) Files(split Name) []File {
	to, ok := w.splits[split]
	if !ok {
		return nil
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	return slices.Clone(to.files)
}

// Import stores the Parquet files that lie in dir of the store at, in whose place
// a local directory may be opened, as files of a split. What Spark would not read
// is passed over. Each must have the columns of the first batch or file. It is
// for programs that wrote them and have ended; see TakeUp for those that write
// to where the dataset is to lie.
func (w *Writer) Import(ctx context.Context, split Name, at *store.Store, dir store.Key) error {
	to, err := w.Dir(split)
	if err != nil {
		return err
	}
	f, err := list(ctx, at, dir)
	if errors.Is(err, store.ErrNotExist) {
		return nil // an empty directory
	}
	if err != nil {
		return err
	}
	return w.include(ctx, split, f, func(ctx context.Context, object store.Object) (written, error) {
		return w.importFile(ctx, at, object, to.Join(f.name(object)))
	})
}

// TakeUp makes the Parquet files that another program has put into the split's
// own directory, Dir, files of the split, where they lie. Rules are those of
// Import.
func (w *Writer) TakeUp(ctx context.Context, split Name) error {
	dir, err := w.Dir(split)
	if err != nil {
		return err
	}
	f, err := list(ctx, w.store, dir)
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.include(ctx, split, f, func(ctx context.Context, object store.Object) (written, error) {
		return w.takeUp(ctx, dir, object)
	})
}

// endedWell refuses what a program left that has not ended well, or that is no plain
// Parquet. The files may have any names, ours too.
func (f *found) endedWell() error {
	if f.single {
		return failure("write dataset", f.dir, store.ErrInvalid, errors.New("it is a file; a dataset is a directory"))
	}
	if f.temporary && !f.success {
		return failure("write dataset", f.dir, store.ErrCorrupt, fmt.Errorf("%w: _temporary is there and _SUCCESS is not", ErrIncomplete))
	}
	plain := *f
	plain.manifest, plain.success = true, true
	return plain.finished()
}

// written is a file that lies in the store.
type written struct {
	key     store.Key
	file    File
	version string
	schema  *arrow.Schema
}

// include adds files to a split, in the order of their names.
func (w *Writer) include(ctx context.Context, split Name, f *found, take func(ctx context.Context, object store.Object) (written, error)) error {
	if err := f.endedWell(); err != nil {
		return err
	}
	list := make([]written, len(f.data))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	for i, object := range f.data {
		group.Go(func() (err error) {
			if list[i], err = take(groupCtx, object); err != nil {
				return err
			}
			list[i].file.Name = f.name(object)
			return list[i].readFooter(groupCtx, w.store)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	to := w.splits[split]
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.stop != nil {
		return to.stop
	}
	files := make([]File, len(list))
	for i, one := range list {
		files[i] = one.file
	}
	partitions, err := partitionFields(f.dir, files, f.keys)
	if err != nil {
		return err
	}
	for _, one := range list {
		if err := w.acceptStored(one.schema, partitions); err != nil {
			return failure("write dataset", one.key, store.ErrInvalid, err)
		}
		to.rows += one.file.Rows
	}
	to.files = append(to.files, files...)
	return nil
}

// acceptStored checks the schema of a file, whose directory holds partition
// columns beside.
func (w *Writer) acceptStored(stored *arrow.Schema, partitions []arrow.Field) error {
	all := stored.Fields()
	for _, field := range partitions {
		if !stored.HasField(field.Name) {
			all = append(all, field)
		}
	}
	if err := w.accept(arrow.NewSchema(all, nil)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = arrow.NewSchema(stored.Fields(), nil)
	return nil
}

// readFooter reads from a file's footer what the manifest says of it.
func (f *written) readFooter(ctx context.Context, s *store.Store) error {
	f.file.Rows = -1 // not known yet
	p, err := openPart(ctx, s, f.key, f.file, f.version)
	if err != nil {
		return err
	}
	f.file.Rows, f.file.RowGroups, f.schema = p.rows, p.groups, p.schema
	return p.run("read footer", func() (err error) {
		f.file.Columns, err = p.statistics()
		return err
	})
}

// importFile copies one file.
func (w *Writer) importFile(ctx context.Context, at *store.Store, object store.Object, key store.Key) (written, error) {
	r, err := at.Open(ctx, object.Key)
	if err != nil {
		return written{}, err
	}
	defer r.Close()
	sums := newSums()
	stored, err := w.store.PutFrom(ctx, key, io.TeeReader(r, sums), object.Size)
	return written{key: key, file: sums.file(key.Base()), version: stored.Version}, err
}

// takeUp reads a file that lies in the store already. On local disk its bytes
// are made to survive a loss of power, as are those that we write.
func (w *Writer) takeUp(ctx context.Context, dir store.Key, object store.Object) (written, error) {
	if path, ok := w.store.LocalPath(object.Key); ok {
		top, _ := w.store.LocalPath(dir)
		if err := flush(path, top); err != nil {
			return written{}, err
		}
	}
	r, err := w.store.Open(ctx, object.Key)
	if err != nil {
		return written{}, err
	}
	defer r.Close()
	sums := newSums()
	if _, err := io.Copy(sums, r); err != nil {
		return written{}, fmt.Errorf("read %s: %w", object.Key, err)
	}
	file := sums.file(object.Key.Base())
	if file.Bytes != object.Size {
		return written{}, failure("read", object.Key, store.ErrConflict, errors.New("somebody still writes it"))
	}
	return written{key: object.Key, file: file, version: object.Version}, nil
}

// flush writes a file below dir, and the directories that lead to it, through to
// the disk.
func flush(path, dir string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		d, err := os.Open(at)
		if err != nil {
			return err
		}
		_ = d.Sync() // some systems cannot
		if err := d.Close(); err != nil || at == dir || len(at) <= len(dir) {
			return err
		}
	}
}
