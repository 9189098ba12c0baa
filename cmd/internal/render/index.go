package render

import (
	"io"
	"time"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// IndexStatus is what an index knows.
type IndexStatus struct {
	Root       string
	File       string // "" where there is no place for one
	Size       Size
	AsOf       time.Time // zero = it was never filled
	Listed     time.Time // when the whole root was last listed
	Runs       int
	Unreadable int // records
	NoInputs   int // runs
}

// Index prints the state of an index: a fact a line, or one document.
func Index(w io.Writer, s IndexStatus, f Format, style Style) error {
	var file any
	if s.File != "" {
		file = s.File
	}
	return members(w, []pyjson.Member{
		{Key: "root", Value: s.Root}, {Key: "file", Value: file}, {Key: "size_bytes", Value: s.Size}, {Key: "as_of", Value: s.AsOf},
		{Key: "listed", Value: s.Listed}, {Key: "runs", Value: s.Runs}, {Key: "unreadable_records", Value: s.Unreadable},
		{Key: "runs_without_inputs", Value: s.NoInputs},
	}, f, style)
}

// IndexRefreshed is what a refresh of an index did.
type IndexRefreshed struct {
	Root       string
	Whole      bool // the whole root was listed
	Listed     int  // runs; so the next two
	Read       int
	Removed    int
	Unreadable int // records, of those runs that were read
	Seconds    float64
}

// Refreshed prints what a refresh did.
func Refreshed(w io.Writer, r IndexRefreshed, f Format, style Style) error {
	return members(w, []pyjson.Member{
		{Key: "root", Value: r.Root}, {Key: "whole", Value: r.Whole}, {Key: "listed", Value: r.Listed}, {Key: "read", Value: r.Read},
		{Key: "removed", Value: r.Removed}, {Key: "unreadable_records", Value: r.Unreadable}, {Key: "seconds", Value: r.Seconds},
	}, f, style)
}

// members prints one document, or a table of its keys and values.
func members(w io.Writer, list []pyjson.Member, f Format, s Style) error {
	if f != Table {
		for i := range list {
			list[i].Value = plain(list[i].Value)
		}
		return Document(w, pyjson.NewObject(list...), f)
	}
	l := List{Key: "facts", Columns: []Column{{Name: "key"}, {Name: "value"}}}
	for _, m := range list {
		l.Rows = append(l.Rows, []any{m.Key, m.Value})
	}
	return l.Write(w, f, s)
}
