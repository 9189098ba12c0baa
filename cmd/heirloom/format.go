package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
)

// wantsJSON reports whether errors and single documents are to be JSON.
func (a *app) wantsJSON() bool {
	f := render.Format(a.flags.format)
	return a.flags.json || f == render.JSON || f == render.JSONL
}

// format is the format asked for, the first of those offered if none is.
func (a *app) format(offered []render.Format) (render.Format, error) {
	if a.flags.json {
		return render.JSON, nil
	}
	return render.ParseFormat(a.flags.format, offered)
}

// documentFormats are those of a command whose answer is one document, or words for people.
func documentFormats() []render.Format {
	return []render.Format{render.Table, render.JSON, render.JSONL}
}

// style says how to print for people on one of the outputs.
func (a *app) style(w io.Writer) render.Style {
	file, ok := w.(*os.File)
	s := render.NewStyle(a.environ, ok && term.IsTerminal(int(file.Fd())))
	s.Color = s.Color && !a.flags.noColor
	if s.Terminal {
		s.Width, _, _ = term.GetSize(int(file.Fd())) // 0 where it has none
	}
	return s
}

// printList writes a list on stdout in one of render.ListFormats.
func (a *app) printList(l render.List, format render.Format) error {
	return l.Write(a.stdout, format, a.style(a.stdout))
}

// printJSON writes one document on stdout, indented, or on one line for jsonl.
func (a *app) printJSON(document any) error {
	return render.Document(a.stdout, document, render.Format(a.flags.format))
}
