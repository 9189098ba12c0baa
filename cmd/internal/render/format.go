package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Format is a form of output, as named by the flag -o.
type Format string

// The formats.
const (
	Table   Format = "table"
	JSON    Format = "json"
	JSONL   Format = "jsonl"
	CSV     Format = "csv"
	Tree    Format = "tree"
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	SVG     Format = "svg"
	PROV    Format = "prov"

	OpenLineage Format = "openlineage"
)

// The formats that each kind of value has; the first is for people and the default.
var (
	ListFormats    = []Format{Table, JSON, JSONL, CSV}
	LineageFormats = []Format{Tree, JSON, JSONL, CSV, DOT, Mermaid, SVG, PROV, OpenLineage}
)

// ParseFormat checks a format against those that are offered; "" is the first of them. For a lineage "table" is its
// tree. The error has kind store.ErrInvalid and names the formats.
func ParseFormat(text string, offered []Format) (Format, error) {
	f := Format(strings.ToLower(text))
	switch {
	case f == "", f == Table && offered[0] == Tree:
		return offered[0], nil
	case slices.Contains(offered, f):
		return f, nil
	}
	return "", unsupported(f, offered)
}

func unsupported(f Format, offered []Format) error {
	names := make([]string, len(offered))
	for i, o := range offered {
		names[i] = string(o)
	}
	err := fmt.Errorf("there is no output format %q here, only %s", string(f), strings.Join(names, ", "))
	return &store.Error{Op: "print", Kind: store.ErrInvalid, Err: err}
}

// Style says how forms for people look.
type Style struct {
	Color    bool // colour states
	Terminal bool // the output is a terminal: neutralise also the cells of CSV
	Width    int  // columns that a line of a tree may have; 0 = any number
	All      bool // a tree draws each node, also those that are alike
	Nodes    bool // a lineage as JSON lines or CSV is its nodes, not its edges

	OpenLineage  *openlineage.Options // of a lineage in that form; nil = the defaults
	Completeness *Completeness        // of the answer, for its JSON document; nil = it has none
}

// NewStyle chooses the style for an output that is a terminal or not. A variable NO_COLOR that is not empty, or TERM
// set to dumb, forbids colour (no-color.org).
func NewStyle(environ []string, terminal bool) Style {
	s := Style{Color: terminal, Terminal: terminal}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == "NO_COLOR" && value != "" || name == "TERM" && value == "dumb" {
			s.Color = false
		}
	}
	return s
}

// ansi is the colour of each state in a terminal; the others have none.
var ansi = map[tracker.State]string{
	tracker.Succeeded: "\x1b[32m",
	tracker.Failed:    "\x1b[31m",
	tracker.Cancelled: "\x1b[33m",
	tracker.Lost:      "\x1b[33m",
	tracker.Running:   "\x1b[36m",
}

// paint colours text that stands for a state.
func (s Style) paint(state tracker.State, text string) string {
	if color := ansi[state]; s.Color && color != "" {
		return color + text + "\x1b[0m"
	}
	return text
}
