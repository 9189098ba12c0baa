package dataset

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A column of strings gets a dictionary if its first rows repeat themselves this
// much. On other columns a dictionary costs time and rarely saves space.
const (
	sampleRows  = 8192
	mostValues  = 1024
	minRepeated = 4 // rows for each distinct value
)

// dictionaryColumns names the columns of strings with few distinct values.
func dictionaryColumns(batch arrow.Record) []string {
	var names []string
	for i, field := range batch.Schema().Fields() {
		column, ok := batch.Column(i).(*array.String)
		if ok && repeats(column) {
			names = append(names, field.Name)
		}
	}
	return names
}

func repeats(column *array.String) bool {
	rows := min(column.Len(), sampleRows)
	distinct := make(map[string]bool)
	for i := range rows {
		if !column.IsNull(i) {
			distinct[column.Value(i)] = true
		}
		if len(distinct) > mostValues {
			return false
		}
	}
	return len(distinct)*minRepeated <= rows
}
