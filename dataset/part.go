package dataset

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/heirloom-ml/heirloom/store"
)

// part is one Parquet file opened for reading.
type part struct {
	key      store.Key
	file     *blockFile
	meta     *metadata.FileMetaData
	manifest *pqarrow.SchemaManifest
	schema   *arrow.Schema
	rows     int64
	groups   int
}

// openPart reads the footer of a file and checks it against what its manifest
// says. described.Rows < 0 means that there is no manifest.
func openPart(ctx context.Context, s *store.Store, key store.Key, described File, version string) (*part, error) {
	f, err := newBlockFile(ctx, s, key, described, version)
	if err != nil {
		return nil, err
	}
	p := &part{key: key, file: f}
	if err := p.run("read footer", p.readFooter); err != nil {
		return nil, err
	}
	if described.Rows >= 0 && p.rows != described.Rows {
		return nil, failure("read footer", key, store.ErrCorrupt,
			fmt.Errorf("the footer says %d rows, the manifest %d", p.rows, described.Rows))
	}
	return p, nil
}

// run calls f, in which the Parquet library may panic, and classifies its error.
func (p *part) run(op string, f func() error) error {
	return classify(op, p.key, guarded(op, p.key, store.ErrCorrupt, f))
}

func (p *part) readFooter() (err error) {
	if p.meta, err = readFooter(p.file); err != nil {
		return err
	}
	p.rows, p.groups = p.meta.NumRows, len(p.meta.RowGroups)
	if p.file.sums == nil {
		forgetArrowSchema(p.meta)
	}
	properties := pqarrow.ArrowReadProperties{}
	if p.manifest, err = pqarrow.NewSchemaManifest(p.meta.Schema, p.meta.KeyValueMetadata(), &properties); err != nil {
		return err
	}
	list := make([]arrow.Field, 0, len(p.manifest.Fields))
	for _, field := range p.manifest.Fields {
		list = append(list, *field.Field)
	}
	p.schema = arrow.NewSchema(list, nil)
	return nil
}

// groupRows is the number of rows of a row group.
func (p *part) groupRows(group int) int64 { return p.meta.RowGroups[group].GetNumRows() }

// groupSizes lists the rows of each row group.
func (p *part) groupSizes() []int64 {
	list := make([]int64, p.groups)
	for i := range list {
		list[i] = p.groupRows(i)
	}
	return list
}

// chosenBytes is what the pages of some fields of a row group uncompress to, as
// the footer says.
func (p *part) chosenBytes(group int, fields []int) int64 {
	total := int64(0)
	for _, field := range fields {
		plain, _ := p.fieldBytes(group, field)
		total += plain
	}
	return max(total, 0)
}

// storedBytes is what the pages of a field of a row group take in the file.
func (p *part) storedBytes(group, field int) int64 {
	_, stored := p.fieldBytes(group, field)
	return stored
}

func (p *part) fieldBytes(group, field int) (plain, stored int64) {
	columns := p.meta.RowGroups[group].GetColumns()
	for _, leaf := range leavesBelow(nil, &p.manifest.Fields[field]) {
		if leaf < 0 || leaf >= len(columns) || columns[leaf].GetMetaData() == nil {
			continue
		}
		plain += max(0, columns[leaf].GetMetaData().GetTotalUncompressedSize())
		stored += max(0, columns[leaf].GetMetaData().GetTotalCompressedSize())
	}
	return plain, stored
}

// leavesBelow adds the indices of the leaf columns below field.
func leavesBelow(list []int, field *pqarrow.SchemaField) []int {
	if len(field.Children) == 0 {
		return append(list, field.ColIndex)
	}
	for i := range field.Children {
		list = leavesBelow(list, &field.Children[i])
	}
	return list
}

func errOtherColumns(dataset, file *arrow.Schema) error {
	return fmt.Errorf("its columns are other than those of the dataset: %s", differ(dataset, file))
}
