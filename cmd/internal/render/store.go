package render

import (
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Entry is one line of a listing of a store.
type Entry struct {
	Path string // as it may be given to another command
	URL  string
	store.Entry
}

// Entries is a listing, in the given order. Only JSON, JSONL and CSV tell all; human shortens the sizes of the table.
func Entries(list []Entry, human bool) List {
	machine := []Format{JSON, JSONL, CSV}
	l := List{Key: "entries", Columns: []Column{
		{Name: "size", Right: true, In: []Format{Table}},
		{Name: "modified", In: []Format{Table}},
		{Name: "path"},
		{Name: "url", In: machine},
		{Name: "kind", In: machine},
		{Name: "size", In: machine},
		{Name: "modified", In: machine},
		{Name: "version", In: machine},
	}}
	for _, e := range list {
		kind, shown, path := "object", sized(e.Size, human), e.Path
		var size, version any = e.Size, nil
		if e.IsDir {
			kind, shown, size, path = "directory", nil, nil, strings.TrimSuffix(path, "/")+"/"
		}
		if e.Version != "" {
			version = e.Version
		}
		l.Rows = append(l.Rows, []any{shown, e.Modified, path, e.URL, kind, size, e.Modified, version})
	}
	return l
}

// sized is a number of bytes, in full or for people.
func sized(bytes int64, human bool) any {
	if human {
		return Size(bytes)
	}
	return bytes
}

// Usage is what lies at or below one path.
type Usage struct {
	Path    string
	URL     string
	Objects int64
	Bytes   int64
}

// Usages are the parts of a whole, in the given order, and the whole, which stands last in a table and by itself in
// JSON. unfinished is the number of uploads that were begun and not ended, negative if unknown.
func Usages(parts []Usage, whole Usage, unfinished int64, human bool) List {
	l := List{Key: "usage", Columns: []Column{
		{Name: "bytes", Right: true},
		{Name: "objects", Right: true},
		{Name: "path"},
		{Name: "url", In: []Format{JSON, JSONL, CSV}},
	}}
	for _, u := range parts {
		l.Rows = append(l.Rows, u.row(human))
	}
	l.Total = whole.row(human)
	l.Also = []pyjson.Member{
		{Key: "total", Value: pyjson.NewObject(
			pyjson.Member{Key: "path", Value: whole.Path},
			pyjson.Member{Key: "url", Value: whole.URL},
			pyjson.Member{Key: "objects", Value: whole.Objects},
			pyjson.Member{Key: "bytes", Value: whole.Bytes})},
		{Key: "unfinished", Value: orNull(unfinished)},
	}
	return l
}

func (u Usage) row(human bool) []any { return []any{sized(u.Bytes, human), u.Objects, u.Path, u.URL} }

// orNull is nil for a number that is not known.
func orNull(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}
