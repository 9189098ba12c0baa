package dataset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	mostOpen = 64 // files of a split that are written at once
	// columnsOpen bounds the columns of all files that are written at once: each
	// has a page in memory.
	columnsOpen = 512
)

// mostOpen is how many files of a split are written at once.
func (w *Writer) mostOpen() int {
	if len(w.spec.Files.PartitionBy) == 0 {
		return 1
	}
	return min(max(columnsOpen/w.stored.NumFields(), 1), mostOpen)
}

// partition writes the rows of batch to the directories of their partitions, in
// the order in which these appear in it.
func (w *Writer) partition(ctx context.Context, to *splitWriter, batch arrow.Record) error {
	dirs, rows, err := partitions(batch, w.spec.Files.PartitionBy)
	if err != nil {
		return failure("write dataset", to.dir, store.ErrInvalid, err)
	}
	for i := len(batch.Schema().Fields()) - 1; i >= 0; i-- {
		if !w.stored.HasField(batch.ColumnName(i)) {
			batch = without(batch, i)
			defer batch.Release()
		}
	}
	for i, dir := range dirs {
		part := batch
		if len(dirs) > 1 {
			if part, err = takeRows(ctx, batch, rows[i].NewArray()); err != nil {
				return err
			}
			defer part.Release()
		}
		if err := w.addTo(ctx, to, dir, part); err != nil {
			return err
		}
	}
	return nil
}

// partitions finds the directories that the rows of a batch belong to, and which rows
// belong to each.
func partitions(batch arrow.Record, by []string) (dirs []string, rows []*array.Int64Builder, err error) {
	columns := make([]func(row int) (string, error), len(by))
	for i, name := range by {
		columns[i] = classes(batch.Column(batch.Schema().FieldIndices(name)[0]))
	}
	number := make(map[string]int)
	var dir []byte
	for row := range int(batch.NumRows()) {
		dir = dir[:0]
		for i, name := range by {
			class, err := columns[i](row)
			if err != nil {
				return nil, nil, fmt.Errorf("partition by %q: %w", name, err)
			}
			if class == "=" {
				return nil, nil, fmt.Errorf("partition by %q: Hive has no directory for an empty text", name)
			}
			if i > 0 {
				dir = append(dir, '/')
			}
			dir = appendPartition(dir, name, class)
		}
		at, ok := number[string(dir)]
		if !ok {
			at = len(dirs)
			number[string(dir)] = at
			dirs = append(dirs, string(dir))
			rows = append(rows, array.NewInt64Builder(memory.DefaultAllocator))
		}
		rows[at].Append(int64(row))
	}
	return dirs, rows, nil
}

// appendPartition writes column=value as Hive and Spark do. class is as classes
// tells it.
func appendPartition(dir []byte, name, class string) []byte {
	dir = append(hiveEscape(dir, name), '=')
	if class == "" {
		return append(dir, HivePartitionNull...)
	}
	return hiveEscape(dir, class[1:])
}

// hiveEscape writes what may not stand in a path as % and two hexadecimal digits
// (Spark, ExternalCatalogUtils.escapePathName).
func hiveEscape(out []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if c < 0x20 || c == 0x7f || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			out = fmt.Appendf(out, "%%%02X", c)
			continue
		}
		out = append(out, c)
	}
	return out
}

// partNumber is the number in a name that partName made, behind any directories.
func partNumber(name string) int {
	name = name[strings.LastIndexByte(name, '/')+1:]
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "part-"), "-")
	n, _ := strconv.Atoi(digits) // of our own names
	return n
}
