package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// showText prints a run in sections; those that would be empty are left out.
func showText(w io.Writer, r *tracker.Run, aliases []string, s Style) error {
	p := &page{style: s}
	p.line(brief(r.ID.Name()))
	p.pairs(
		[]any{"id", r.ID}, []any{"name", text(r, tracker.KeyName)}, []any{"aliases", orNil(strings.Join(aliases, " "))}, []any{"state", r.State},
		[]any{"started", r.Started}, []any{"ended", since(r.Started, r.Ended)}, []any{"exit code", exitCode(r)},
		[]any{"signal", signal(r)}, []any{"logs", logs(r)},
	)
	rest := r.Metadata.Clone()
	rest.Delete(tracker.KeyName)
	for _, g := range groups {
		p.object(g.name, group(r.Metadata, g.prefix))
		for _, key := range rest.Keys() {
			if strings.HasPrefix(key, g.prefix) && key != g.prefix {
				rest.Delete(key)
			}
		}
	}
	p.object("metadata", rest)
	p.list("artifacts", artifactList(r))
	p.list("sources", sourceList(r))
	p.list("children", childList(r))
	p.list("attempts", attemptList(r))
	p.list("warnings", warningList(r))
	_, err := io.WriteString(w, p.b.String())
	return err
}

// logs is where a launcher keeps what the run printed, nil if none told of an
// output directory.
func logs(r *tracker.Run) any {
	dir := r.Metadata.Text(tracker.KeyOutputDir)
	if dir == "" || len(r.Attempts) == 0 {
		return nil
	}
	return strings.TrimSuffix(dir, "/") + "/logs"
}

// page is text in sections, indented under their heads.
type page struct {
	b     strings.Builder
	style Style
}

func (p *page) line(text string) { p.b.WriteString(text + "\n") }

// pairs prints keys and values aligned; those without a value are left out.
func (p *page) pairs(pairs ...[]any) {
	l := List{Columns: []Column{{}, {}}}
	for _, pair := range pairs {
		if plain(pair[1]) != nil {
			l.Rows = append(l.Rows, pair)
		}
	}
	p.indent(l, 1)
}

func (p *page) object(head string, o *pyjson.Object) {
	if o.Len() == 0 {
		return
	}
	l := List{Columns: []Column{{}, {}}}
	for key, v := range o.All() {
		l.Rows = append(l.Rows, []any{key, v})
	}
	p.line("\n" + head)
	p.indent(l, 1)
}

func (p *page) list(head string, l List) {
	if len(l.Rows) > 0 {
		p.line("\n" + head)
		p.indent(l, 0)
	}
}

// indent prints a table below its head, without the first lines of it that are told to be skipped.
func (p *page) indent(l List, skip int) {
	var table strings.Builder
	_ = l.table(&table, p.style) // a Builder never fails
	for i, text := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		if i >= skip {
			p.line("  " + text)
		}
	}
}

func artifactList(r *tracker.Run) List {
	l := List{Columns: []Column{{Name: "name"}, {Name: "kind"}, {Name: "size", Right: true}, {Name: "path"}}}
	for _, a := range r.Artifacts {
		var bytes any
		if n, ok := a.SizeBytes(); ok {
			bytes = Size(n)
		}
		l.Rows = append(l.Rows, []any{a.Name, a.Kind(), bytes, a.Path})
	}
	return l
}

func sourceList(r *tracker.Run) List {
	l := List{Columns: []Column{{Name: "source"}, {Name: "artifact"}, {Name: "role"}}}
	for _, src := range r.Sources {
		l.Rows = append(l.Rows, []any{src.ID, src.Artifact, src.Role})
	}
	return l
}

func childList(r *tracker.Run) List {
	l := List{Columns: []Column{{Name: "run"}}}
	for _, id := range r.Children {
		l.Rows = append(l.Rows, []any{id})
	}
	return l
}

func attemptList(r *tracker.Run) List {
	l := List{Columns: []Column{
		{Name: "number", Right: true}, {Name: "state"}, {Name: "started"}, {Name: "ended"}, {Name: "exit"}, {Name: "host"}, {Name: "command"},
	}}
	for i, a := range r.Attempts {
		doc := newShownAttempt(r, a, i == len(r.Attempts)-1)
		var state tracker.State
		if doc.State != nil {
			state = tracker.State(*doc.State)
		}
		exit := ""
		switch {
		case doc.Signal != nil:
			exit = *doc.Signal
		case doc.ExitCode != nil:
			exit = strconv.Itoa(*doc.ExitCode)
		}
		l.Rows = append(l.Rows, []any{a.Number, state, a.Start.Time, since(a.Start.Time, ended(a)), exit, a.Start.Host, strings.Join(a.Start.Command, " ")})
	}
	return l
}

func warningList(r *tracker.Run) List {
	l := List{Columns: []Column{{Name: "record"}, {Name: "reason"}}}
	for _, warning := range r.Warnings {
		l.Rows = append(l.Rows, []any{warning.Key, warning.Reason})
	}
	return l
}

// ended is when an attempt ended, zero if it did not.
func ended(a tracker.Attempt) time.Time {
	if a.End == nil {
		return time.Time{}
	}
	return a.End.Time
}
