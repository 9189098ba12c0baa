package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// Writer takes the rows of a dataset that is being staged. All batches, of all
// splits, have the same schema, that of the first. Rows are stored in the order
// in which they come. It is safe for concurrent use; batches of one split are
// then stored in the order of the calls.
type Writer struct {
	store  *store.Store
	spec   Spec
	claim  Claim
	uuid   string
	limits limits

	mu     sync.Mutex // guards schema and the map
	schema *arrow.Schema
	splits map[Name]*splitWriter
}

// splitWriter writes the files of one split.
type splitWriter struct {
	dir store.Key

	mu         sync.Mutex // guards what follows
	current    *partWriter
	dictionary []string
	files      []File
	rows       int64
	stop       error // why nothing more is taken; the first error, or the end
}

func newWriter(s *store.Store, spec Spec, claim Claim) (*Writer, error) {
	uuid, err := newUUID(claim.Epoch)
	if err != nil {
		return nil, err
	}
	w := &Writer{store: s, spec: spec, claim: claim, uuid: uuid, limits: usualLimits(), splits: make(map[Name]*splitWriter)}
	for _, name := range spec.Split.names() {
		w.splits[name] = &splitWriter{dir: splitDir(s.Layout(), name, claim.Index)}
	}
	return w, nil
}

// splitDir is where a split lies, by Horovod's rule.
func splitDir(layout store.Layout, name Name, index int) store.Key {
	switch name {
	case Val:
		return layout.ValData(index)
	case Test:
		return layout.TestData(index)
	default:
		return layout.TrainData(index)
	}
}

// Write adds the rows of batch to a split that the spec asks for. The batch
// remains the caller's. The error has kind store.ErrInvalid if the schema is not
// that of the first batch, or lacks a column that the spec names.
func (w *Writer) Write(ctx context.Context, split Name, batch arrow.Record) error {
	to, ok := w.splits[split]
	if !ok {
		return failure("write dataset", "", store.ErrInvalid, fmt.Errorf("the spec asks for no split %q", split))
	}
	if err := w.accept(batch.Schema()); err != nil {
		return failure("write dataset", to.dir, store.ErrInvalid, err)
	}
	if err := ctx.Err(); err != nil || batch.NumRows() == 0 {
		return err
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.stop != nil {
		return to.stop
	}
	to.stop = w.add(ctx, to, batch)
	return to.stop
}

// accept checks a batch's schema. Metadata of the schema does not matter.
func (w *Writer) accept(schema *arrow.Schema) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.schema != nil {
		if !sameFields(w.schema, schema) {
			return fmt.Errorf("a batch has the columns %v, the first one had %v", schema.Fields(), w.schema.Fields())
		}
		return nil
	}
	if err := checkColumns(schema, w.spec); err != nil {
		return err
	}
	w.schema = arrow.NewSchema(schema.Fields(), nil)
	return nil
}

func checkColumns(schema *arrow.Schema, spec Spec) error {
	names := make(map[string]bool)
	for _, field := range schema.Fields() {
		if field.Name == "" || names[field.Name] {
			return fmt.Errorf("column %q is empty or there twice", field.Name)
		}
		names[field.Name] = true
	}
	if len(names) == 0 {
		return errors.New("a batch has no columns")
	}
	for _, list := range [][]string{spec.Features, spec.Labels} {
		for _, name := range list {
			if !names[name] {
				return fmt.Errorf("the spec names a column %q, which the rows do not have", name)
			}
		}
	}
	return nil
}

// add writes batch to the current part, which it opens and ends as needed. The
// caller holds to.mu.
func (w *Writer) add(ctx context.Context, to *splitWriter, batch arrow.Record) error {
	if to.current == nil {
		if to.files == nil {
			to.dictionary = dictionaryColumns(batch)
		}
		key := to.dir.Join(partName(len(to.files), w.uuid))
		part, err := newPartWriter(ctx, w.store, key, w.schema, to.dictionary, w.limits)
		if err != nil {
			return err
		}
		to.current = part
	}
	if err := to.current.write(w.schema, batch); err != nil {
		to.current = nil // its upload has ended
		return err
	}
	to.rows += batch.NumRows()
	if to.current.full() {
		return w.end(ctx, to)
	}
	return nil
}

// end completes the current part and reads its footer back. The caller holds to.mu.
func (w *Writer) end(ctx context.Context, to *splitWriter) error {
	if to.current == nil {
		return nil
	}
	part := to.current
	to.current = nil
	file, err := part.close()
	if err != nil {
		return err
	}
	if err := verify(ctx, w.store, part, file, w.schema); err != nil {
		return err
	}
	to.files = append(to.files, file)
	return nil
}

// verify opens a file that was just written and checks that its footer says
// what we know of it.
func verify(ctx context.Context, s *store.Store, written *partWriter, file File, schema *arrow.Schema) error {
	read, err := openPart(ctx, s, written.key, file, written.stored.Version)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if read.groups != file.RowGroups || !sameFields(read.schema, schema) {
		return failure("verify", written.key, store.ErrCorrupt,
			fmt.Errorf("read back: %d row groups of %v; written: %d of %v", read.groups, read.schema, file.RowGroups, schema))
	}
	return nil
}

// finish ends every split. A split without rows is refused, as Horovod does.
func (w *Writer) finish(ctx context.Context) error {
	for _, name := range w.spec.Split.names() {
		split := w.splits[name]
		split.mu.Lock()
		err := split.stop
		if err == nil {
			err = w.end(ctx, split)
			split.stop = errEnded()
		}
		split.mu.Unlock()
		if err != nil {
			return err
		}
		if split.rows == 0 {
			return failure("stage dataset", split.dir, store.ErrInvalid, fmt.Errorf("split %s has no rows", name))
		}
	}
	return nil
}

// abort gives up the files in progress. It may follow finish.
func (w *Writer) abort() {
	for _, split := range w.splits {
		split.mu.Lock()
		if split.current != nil {
			split.current.abort()
			split.current = nil
		}
		split.stop = errEnded()
		split.mu.Unlock()
	}
}

func errEnded() error {
	return failure("write dataset", "", store.ErrInvalid, errors.New("the dataset is no longer being staged"))
}

// sameFields compares names, types and nullability in order, not metadata.
func sameFields(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, field := range a.Fields() {
		other := b.Field(i)
		if field.Name != other.Name || field.Nullable != other.Nullable || !arrow.TypeEqual(field.Type, other.Type) {
			return false
		}
	}
	return true
}
