package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Markdown is the format of summaries that a forge shows.
const Markdown Format = "markdown"

// ImpactFormats are those of an impact.
var ImpactFormats = []Format{Table, JSON, JSONL, CSV, Markdown}

// Impact is what is printed of lineage.Impact, with what was asked.
type Impact struct {
	*lineage.Impact
	Where, FailOn string        // the filters as they were given, "" for none
	Completeness  *Completeness // nil = not known
}

// Write prints it in one of ImpactFormats.
func (i Impact) Write(w io.Writer, f Format, s Style) error {
	if f == Markdown {
		_, err := io.WriteString(w, i.markdown())
		return err
	}
	return i.list().Write(w, f, s)
}

func (i Impact) list() List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "runs", Columns: []Column{
		{Name: "run", In: human}, {Name: "id", In: machine}, {Name: "name", In: machine}, {Name: "state"}, {Name: "depth", Right: true},
		{Name: "aliases", In: machine}, {Name: "alias", In: human}, {Name: "started"}, {Name: "ended", In: machine}, {Name: "user"}, {Name: "project", In: machine}, {Name: "via", In: machine}, {Name: "gate", In: machine},
	}}
	if i.FailOn != "" {
		l.Columns = append(l.Columns, Column{Name: "gate", In: human})
	}
	l.Also = []pyjson.Member{
		{Key: "root", Value: i.Root}, {Key: "where", Value: textOrNull(i.Where)}, {Key: "fail_on", Value: textOrNull(i.FailOn)},
		{Key: "runs_below", Value: int64(i.Below)}, {Key: "inputs_below", Value: int64(i.Inputs)}, {Key: "matched", Value: int64(i.Matched)},
	}
	l.AddCompleteness(i.Completeness)
	labels := i.labels()
	for _, a := range i.Affected {
		row := []any{labels[a.ID], a.ID, a.Label(), nil, a.Depth, a.Aliases, textOrNull(strings.Join(a.Aliases, ", ")), nil, nil, nil, nil, a.Via, a.Gate}
		if r := a.Run; r != nil {
			row[2], row[3], row[7], row[8] = name(r), r.State, r.Started, r.Ended
			row[9], row[10] = text(r, tracker.KeyUser), text(r, tracker.KeyProject)
		}
		if i.FailOn != "" {
			row = append(row, textOrNull(map[bool]string{true: "matched"}[a.Gate]))
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// labels gives the short name of each run, or its whole id where two would be called the same.
func (i Impact) labels() map[string]string {
	times := map[string]int{}
	for _, a := range i.Affected {
		times[a.Label()]++
	}
	labels := map[string]string{}
	for _, a := range i.Affected {
		labels[a.ID] = a.Label()
		if times[a.Label()] > 1 {
			labels[a.ID] = a.ID
		}
	}
	return labels
}

// maxMarkdownRows is how many runs stand in a summary, so that no forge refuses it for its length.
const maxMarkdownRows = 100

// markdown is a summary for a forge: what was caught first.
func (i Impact) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Impact of %s\n\n", markdownName(i.Root))
	switch {
	case i.FailOn == "":
	case i.Matched > 0:
		fmt.Fprintf(&b, "**Gate matched:** %s holds of %d of %d runs.\n\n", markdownName(i.FailOn), i.Matched, len(i.Affected))
	default:
		fmt.Fprintf(&b, "Gate passed: %s holds of no run.\n\n", markdownName(i.FailOn))
	}
	fmt.Fprintf(&b, "Runs that descend from it: %d", i.Below)
	if i.Where != "" {
		fmt.Fprintf(&b, ", of which %d satisfy %s", len(i.Affected), markdownName(i.Where))
	}
	b.WriteString(".\n")
	if i.Completeness != nil {
		fmt.Fprintf(&b, "\n<sub>%s</sub>\n", markdownText(i.Completeness.Line()))
	}
	i.rows(&b)
	return b.String()
}

// rows writes the table of runs.
func (i Impact) rows(b *strings.Builder) {
	if len(i.Affected) == 0 {
		return
	}
	b.WriteString("\n| | run | state | depth | aliases | via |\n|---|---|---|---:|---|---|\n")
	written, labels := 0, i.labels()
	for _, caught := range []bool{true, false} {
		for _, a := range i.Affected {
			if a.Gate != caught || written == maxMarkdownRows {
				continue
			}
			written++
			b.WriteString(i.row(a, labels[a.ID]))
		}
	}
	if more := len(i.Affected) - written; more > 0 {
		fmt.Fprintf(b, "\nand %d more.\n", more)
	}
}

func (i Impact) row(a lineage.Affected, label string) string {
	mark, state := "", ""
	if a.Gate {
		mark = "❌"
	}
	if a.Run != nil {
		state = markdownText(string(a.Run.State))
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %s | %s |\n", mark, markdownName(label), state, a.Depth, namesOf(a.Aliases, atName), namesOf(a.Via, lastPart))
}

// namesOf writes a few names, and how many more there are.
func namesOf(names []string, short func(string) string) string {
	const most = 3
	var list []string
	for n, name := range names {
		if n == most {
			list = append(list, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		list = append(list, markdownName(short(name)))
	}
	return strings.Join(list, ", ")
}

func atName(alias string) string { return "@" + alias }

// lastPart is the short form of the id of a run, and any other id as it is.
func lastPart(id string) string {
	if lineage.IsHandle(id) {
		return tracker.RunID(id).Name()
	}
	return id
}

// markdownText writes text that is no code, likewise harmless.
func markdownText(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(markdownName(text), "<code>"), "</code>")
}
