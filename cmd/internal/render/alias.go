package render

import (
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Aliases is what names mean, or meant, in the given order.
func Aliases(list []alias.Alias) List {
	l := List{Key: "aliases", Columns: []Column{
		{Name: "name"}, {Name: "node"}, {Name: "run", In: []Format{JSON, JSONL, CSV}}, {Name: "artifact", In: []Format{JSON, JSONL, CSV}},
		{Name: "number", Right: true}, {Name: "time"}, {Name: "user"}, {Name: "reason"},
	}}
	for _, a := range list {
		l.Rows = append(l.Rows, []any{
			a.Name, orNil(a.Node), orNil(string(a.Run())), orNil(a.Artifact), a.Number, a.Time, orNil(a.User), orNil(a.Reason),
		})
	}
	return l
}

// RunAliases are the aliases of runs and of their artifacts, by run.
type RunAliases map[tracker.RunID][]alias.Alias

// NewRunAliases sorts aliases by run.
func NewRunAliases(list []alias.Alias) RunAliases {
	by := RunAliases{}
	for _, a := range list {
		by[a.Run()] = append(by[a.Run()], a)
	}
	return by
}

// Names are those of a run's aliases and of its artifacts', sorted.
func (r RunAliases) Names(run tracker.RunID) []string {
	names := []string{}
	for _, a := range r[run] {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// AddAliases adds them to a list of runs, in whose order the ids are. A table has the column only if there are any.
func (l *List) AddAliases(ids []tracker.RunID, aliases RunAliases) {
	some := false
	for i, id := range ids {
		names := aliases.Names(id)
		some = some || len(names) > 0
		l.Rows[i] = append(l.Rows[i], names, strings.Join(names, " "))
	}
	l.Columns = append(l.Columns, Column{Name: "aliases", In: []Format{JSON, JSONL}}, Column{Name: "aliases", In: []Format{Table, CSV}})
	if !some {
		l.Columns[len(l.Columns)-1].In = []Format{CSV}
	}
}
