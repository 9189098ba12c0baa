package render

import (
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// DiffFormats are those of a difference.
var DiffFormats = []Format{Table, JSON, JSONL, CSV}

// Diff is what is printed of lineage.Diff, with the runs and the nodes of its ancestors.
type Diff struct {
	*lineage.Diff
	RunA, RunB *tracker.Run
	Labels     map[string]string // short names of ancestors by id

	Completeness *Completeness // nil = not known
}

// Write prints it in one of DiffFormats: for people in sections, without those that have nothing to tell; as one JSON
// document; or as CSV, a difference a line.
func (d Diff) Write(w io.Writer, f Format, s Style) error {
	switch f {
	case Table:
		_, err := io.WriteString(w, d.text(s))
		return err
	case JSON, JSONL:
		return Document(w, d.document(), f)
	case CSV:
		return d.list().Write(w, f, s)
	}
	return unsupported(f, DiffFormats)
}

// document is the difference in JSON; docs/json.md tells of each field.
func (d Diff) document() *pyjson.Object {
	doc := pyjson.NewObject(
		pyjson.Member{Key: "a", Value: diffSide(d.RunA)}, pyjson.Member{Key: "b", Value: diffSide(d.RunB)},
		pyjson.Member{Key: "same", Value: d.Empty()})
	for _, part := range d.Parts() {
		list := []any{}
		for _, c := range part.Changes {
			list = append(list, pyjson.NewObject(
				pyjson.Member{Key: "name", Value: c.Name}, pyjson.Member{Key: "change", Value: signOf(c).word},
				pyjson.Member{Key: "a", Value: c.A}, pyjson.Member{Key: "b", Value: c.B}, pyjson.Member{Key: "also", Value: textOrNull(c.Also)}))
		}
		doc.Set(part.Name, list)
	}
	ancestors := []any{}
	for _, p := range d.Ancestors {
		ancestors = append(ancestors, pyjson.NewObject(pyjson.Member{Key: "a", Value: textOrNull(p.A)}, pyjson.Member{Key: "b", Value: textOrNull(p.B)}))
	}
	doc.Set("ancestors", ancestors)
	if d.Completeness != nil {
		doc.Set("completeness", d.Completeness.object())
	}
	return doc
}

func diffSide(r *tracker.Run) *pyjson.Object {
	return pyjson.NewObject(
		pyjson.Member{Key: "id", Value: string(r.ID)}, pyjson.Member{Key: "name", Value: name(r)},
		pyjson.Member{Key: "state", Value: string(r.State)}, pyjson.Member{Key: "started", Value: plain(r.Started)})
}

// list is a row for each difference.
func (d Diff) list() List {
	l := List{Columns: []Column{{Name: "part"}, {Name: "name"}, {Name: "change"}, {Name: "a"}, {Name: "b"}}}
	for _, part := range d.Parts() {
		for _, c := range part.Changes {
			l.Rows = append(l.Rows, []any{part.Name, c.Name, signOf(c).word, c.A, c.B})
		}
	}
	for _, p := range d.Ancestors {
		l.Rows = append(l.Rows, []any{"ancestors", nil, signOf(parting(p)).word, textOrNull(p.A), textOrNull(p.B)})
	}
	return l
}

// signed is how a change is marked.
type signed struct{ word, sign, color string }

func signOf(c lineage.Change) signed {
	switch {
	case !c.HasB:
		return signed{"removed", "-", "\x1b[31m"}
	case !c.HasA:
		return signed{"added", "+", "\x1b[32m"}
	}
	return signed{"changed", "~", "\x1b[33m"}
}

// parting is where ancestries part, as a change.
func parting(p lineage.Parting) lineage.Change {
	return lineage.Change{A: p.A, B: p.B, HasA: p.A != "", HasB: p.B != ""}
}

// text is the difference for people.
func (d Diff) text(s Style) string {
	p := &page{style: s}
	p.indent(List{Columns: []Column{{}, {}, {}, {}, {}}, Rows: [][]any{
		{"a", name(d.RunA), d.RunA.State, d.RunA.Started, string(d.RunA.ID)}, {"b", name(d.RunB), d.RunB.State, d.RunB.Started, string(d.RunB.ID)},
	}}, 1)
	for _, part := range d.Parts() {
		if len(part.Changes) > 0 {
			p.line("\n" + part.Name)
			p.changes(part.Changes)
		}
	}
	if len(d.Ancestors) > 0 {
		p.line("\nancestors that differ first")
		var list []lineage.Change
		for _, at := range d.Ancestors {
			c := parting(at)
			c.A, c.B = d.Labels[at.A], d.Labels[at.B]
			list = append(list, c)
		}
		p.changes(list)
	}
	return p.b.String()
}

// maxValue is how many columns a value may take; JSON and CSV have the whole.
const maxValue = 48

// changes writes one change a line: a sign, the name, the value of a, that of b.
func (p *page) changes(list []lineage.Change) {
	names, values := 0, 0
	texts := make([][2]string, len(list))
	for i, c := range list {
		texts[i] = valueTexts(c)
		names, values = max(names, width(Sanitize(c.Name))), max(values, width(texts[i][0]))
	}
	for i, c := range list {
		mark := signOf(c)
		text := pad(Sanitize(c.Name), names)
		if names > 0 {
			text += "  "
		}
		text += pad(texts[i][0], values)
		switch {
		case c.HasA && c.HasB:
			text += "  →  " + texts[i][1]
		case c.HasB:
			text += "     " + texts[i][1]
		}
		if c.Also != "" {
			text += "  the same bytes as " + Sanitize(c.Also)
		}
		line := mark.sign + " " + strings.TrimRight(text, " ")
		if p.style.Color {
			line = mark.color + line + "\x1b[0m"
		}
		p.line("  " + line)
	}
}

// pad fills text with spaces up to a number of columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-width(text)))
}

// valueText is a value in few columns, "" where there is none: digests as git shortens them.
func valueText(v any, has bool) string {
	if !has {
		return ""
	}
	if text, ok := v.(string); ok {
		for _, prefix := range []string{"sha256:", "tree:", "workspace:"} {
			if rest, found := strings.CutPrefix(text, prefix); found {
				if d, err := store.ParseDigest(rest); err == nil {
					return prefix + string(d[:12])
				}
			}
		}
	}
	return shortened(brief(v))
}

// valueTexts are both values in few columns, so that one sees how they differ.
func valueTexts(c lineage.Change) [2]string {
	a, b := valueText(c.A, c.HasA), valueText(c.B, c.HasB)
	if !c.HasA || !c.HasB || a != b {
		return [2]string{a, b}
	}
	wholeA, wholeB := []rune(Sanitize(raw(c.A))), []rune(Sanitize(raw(c.B)))
	same := 0
	for same < min(len(wholeA), len(wholeB)) && wholeA[same] == wholeB[same] {
		same++
	}
	if max(len(wholeA), len(wholeB)) <= maxValue {
		return [2]string{string(wholeA), string(wholeB)}
	}
	from := max(0, same-leadIn)
	return [2]string{shortened("…" + string(wholeA[from:])), shortened("…" + string(wholeB[from:]))}
}

// leadIn is how many characters are shown of what two long values have in common before they differ.
const leadIn = 12

// shortened is the beginning of a text that takes too many columns.
func shortened(text string) string {
	if width(text) <= maxValue {
		return text
	}
	runes := []rune(text)
	for width(string(runes)) > maxValue-1 {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
