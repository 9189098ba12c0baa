package render

import (
	"strings"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// RunFields is a list of runs with one column for each field, named as a filter spells it, attributes by their name
// alone. What a run has several of, such as artifacts, is a list.
func RunFields(runs []*tracker.Run, fields []filter.Field) List {
	l := List{Key: "runs"}
	for _, f := range fields {
		name := strings.TrimPrefix(f.String(), string(filter.Attributes)+".")
		l.Columns = append(l.Columns, Column{Name: name, Exact: f.Entity != filter.Attributes, Right: f.Type() == filter.Number})
	}
	for _, run := range runs {
		row := make([]any, len(fields))
		for i, f := range fields {
			row[i] = fieldOf(run, f)
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// fieldOf is the value that a run has of a field, nil if it has none.
func fieldOf(run *tracker.Run, f filter.Field) any {
	switch f.Entity {
	case filter.Artifacts, filter.Parents, filter.Datasets:
		list := []any{}
		for v := range (filter.Run{Run: run}).Values(f) {
			list = append(list, typed(v, f))
		}
		return list
	case filter.Attributes:
		return attributeOf(run, f)
	}
	v, _ := run.Metadata.Get(f.Key())
	return v
}

func attributeOf(run *tracker.Run, f filter.Field) any {
	switch f.Name {
	case "started":
		return run.Started
	case "ended":
		return run.Ended
	case "exit_code":
		return exitCode(run)
	}
	for v := range (filter.Run{Run: run}).Values(f) {
		return typed(v, f)
	}
	return nil
}

// typed is a number where the field holds numbers.
func typed(v filter.Value, f filter.Field) any {
	if f.Type() == filter.Number && v.IsNumber {
		if whole := int64(v.Number); float64(whole) == v.Number {
			return whole
		}
		return v.Number
	}
	return v.Text
}
