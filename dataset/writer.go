package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// Writer takes the rows of a dataset that is being staged. All batches, of all
// splits, have the same schema, that of the first. Rows are stored in the order
// in which they come, within each partition if there are any. It is safe for concurrent use; batches of one split are
// then stored in the order of the calls.
type Writer struct {
	store  *store.Store
	spec   Spec
	claim  Claim
	uuid   string
	limits limits

	mu     sync.Mutex    // guards the schemas and the map
	schema *arrow.Schema // of the rows
	stored *arrow.Schema // of the files: the schema without the columns of partitions
	splits map[Name]*splitWriter
}

// splitWriter writes the files of one split.
type splitWriter struct {
	dir store.Key

	mu         sync.Mutex // guards what follows
	open       []*partWriter
	parts      int // that were begun
	dictionary []string
	shapes     shapes
	files      []File // in the order in which they were begun, once all have ended
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
	w.stored = arrow.NewSchema(slices.DeleteFunc(schema.Fields(), func(f arrow.Field) bool {
		return slices.Contains(w.spec.Files.PartitionBy, f.Name)
	}), nil)
	return nil
}

// maxColumns is what one file may have: each takes memory while it is written,
// however short it is.
const maxColumns = 20_000

func checkColumns(schema *arrow.Schema, spec Spec) error {
	if n := schema.NumFields(); n > maxColumns {
		return fmt.Errorf("the rows have %d columns, more than the %d that are possible; a column of lists holds any number of values", n, maxColumns)
	}
	names := make(map[string]bool)
	for _, field := range schema.Fields() {
		if field.Name == "" || names[field.Name] {
			return fmt.Errorf("column %q is empty or there twice", field.Name)
		}
		names[field.Name] = true
	}
	for _, list := range [][]string{spec.Features, spec.Labels, spec.Files.PartitionBy} {
		for _, name := range list {
			if !names[name] {
				return fmt.Errorf("the spec names a column %q, which the rows do not have", name)
			}
		}
	}
	if len(names) == len(spec.Files.PartitionBy) {
		return errors.New("a batch has no columns")
	}
	return nil
}

// add writes batch to the files it belongs to. The caller holds to.mu.
func (w *Writer) add(ctx context.Context, to *splitWriter, batch arrow.Record) error {
	if to.parts == 0 {
		to.dictionary = dictionaryColumns(batch)
		to.shapes = newShapes(w.schema)
	}
	to.shapes.add(batch)
	to.rows += batch.NumRows()
	if len(w.spec.Files.PartitionBy) == 0 {
		return w.addTo(ctx, to, "", batch)
	}
	return w.partition(ctx, to, batch)
}

// addTo writes batch to the open file of a directory within the split's, which it
// opens and ends as needed.
func (w *Writer) addTo(ctx context.Context, to *splitWriter, dir string, batch arrow.Record) error {
	part, err := w.partFor(ctx, to, dir)
	if err != nil {
		return err
	}
	part.limits.groupBytes = w.limits.groupBytes / int64(len(to.open))
	if err := part.write(w.stored, batch); err != nil {
		to.forget(part) // its upload has ended
		return err
	}
	if part.full() {
		return w.end(ctx, to, part)
	}
	return nil
}

// partFor finds or opens the file of a directory. Of too many the one that was
// written to least recently ends. The order of to.open is that of their last use.
func (w *Writer) partFor(ctx context.Context, to *splitWriter, dir string) (*partWriter, error) {
	at := slices.IndexFunc(to.open, func(p *partWriter) bool { return p.dir == dir })
	if at >= 0 {
		part := to.open[at]
		to.open = append(slices.Delete(to.open, at, at+1), part)
		return part, nil
	}
	most := w.mostOpen()
	if len(to.open) >= most {
		if err := w.end(ctx, to, to.open[0]); err != nil {
			return nil, err
		}
	}
	if to.parts == w.limits.parts {
		return nil, failure("write dataset", to.dir, store.ErrInvalid,
			fmt.Errorf("more than %d files: sort the rows by the columns to partition by, or choose ones with fewer values", to.parts))
	}
	name := partName(to.parts, w.uuid, w.spec.Files.compression())
	pages := w.limits.pageBytes / int64(w.stored.NumFields()*most)
	props, err := properties(w.stored, w.spec.Files, to.dictionary, pages)
	if err != nil {
		return nil, failure("write dataset", to.dir, store.ErrInvalid, err)
	}
	part, err := newPartWriter(ctx, w.store, to.dir, dir, name, w.stored, props, w.limits)
	if err != nil {
		return nil, err
	}
	to.parts++
	to.open = append(to.open, part)
	return part, nil
}

// end completes a part and reads its footer back. The caller holds to.mu.
func (w *Writer) end(ctx context.Context, to *splitWriter, part *partWriter) error {
	to.forget(part)
	file, err := part.close()
	if err != nil {
		return err
	}
	if file.Columns, err = verify(ctx, w.store, part, file, w.stored); err != nil {
		return err
	}
	to.files = append(to.files, file)
	return nil
}

func (to *splitWriter) forget(part *partWriter) {
	to.open = slices.DeleteFunc(to.open, func(p *partWriter) bool { return p == part })
}

// verify opens a file that was just written, checks that its footer says what we
// know of it, and returns the statistics in there.
func verify(ctx context.Context, s *store.Store, written *partWriter, file File, schema *arrow.Schema) (map[string]ColumnStats, error) {
	read, err := openPart(ctx, s, written.key, file, written.stored.Version)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if read.groups != file.RowGroups || !sameFields(read.schema, schema) {
		return nil, failure("verify", written.key, store.ErrCorrupt,
			fmt.Errorf("read back: %d row groups of %v; written: %d of %v", read.groups, read.schema, file.RowGroups, schema))
	}
	var columns map[string]ColumnStats
	err = read.run("verify", func() (err error) {
		columns, err = read.statistics()
		return err
	})
	return columns, err
}

// finish ends every split. A split without rows is refused, as Horovod does.
func (w *Writer) finish(ctx context.Context) error {
	for _, name := range w.spec.Split.names() {
		split := w.splits[name]
		if err := w.finishSplit(ctx, split); err != nil {
			return err
		}
		if split.rows == 0 {
			return failure("stage dataset", split.dir, store.ErrInvalid, fmt.Errorf("split %s has no rows", name))
		}
	}
	return nil
}

func (w *Writer) finishSplit(ctx context.Context, split *splitWriter) error {
	split.mu.Lock()
	defer split.mu.Unlock()
	if split.stop != nil {
		return split.stop
	}
	split.stop = errEnded()
	for len(split.open) > 0 {
		if err := w.end(ctx, split, split.open[0]); err != nil {
			return err
		}
	}
	slices.SortStableFunc(split.files, func(a, b File) int { return partNumber(a.Name) - partNumber(b.Name) })
	return nil
}

// abort gives up the files in progress. It may follow finish.
func (w *Writer) abort() {
	for _, split := range w.splits {
		split.mu.Lock()
		for _, part := range split.open {
			part.abort()
		}
		split.open = nil
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
