package filter

import (
	"iter"
	"maps"
	"slices"
)

// AliasField is the attribute that holds the names of a run's aliases, and of those of its artifacts. Records do not
// tell them: see WithAliases.
const AliasField = "alias"

// NamesAlias reports whether a filter asks for aliases.
func NamesAlias(e Expr) bool {
	switch e := e.(type) {
	case *And:
		return NamesAlias(e.X) || NamesAlias(e.Y)
	case *Or:
		return NamesAlias(e.X) || NamesAlias(e.Y)
	case *Not:
		return NamesAlias(e.X)
	case *Compare:
		return e.isAlias()
	}
	return false
}

// WithAliases replaces what a filter asks of aliases by the ids of the runs that it holds for. names are the aliases of
// each run, by its id; a run without any may be left out.
func WithAliases(e Expr, names map[string][]string) Expr {
	switch e := e.(type) {
	case *And:
		return &And{WithAliases(e.X, names), WithAliases(e.Y, names)}
	case *Or:
		return &Or{WithAliases(e.X, names), WithAliases(e.Y, names)}
	case *Not:
		return &Not{WithAliases(e.X, names)}
	case *Compare:
		if e.isAlias() {
			return e.ids(names)
		}
	}
	return e
}

func (c *Compare) isAlias() bool { return c.Field == Field{Attributes, AliasField} }

// ids is the comparison as one with the ids of runs. No run has the id "".
func (c *Compare) ids(names map[string][]string) *Compare {
	positive := *c
	if c.Op == IsNull {
		positive.Negate = true // of the runs that have one
	}
	list := []Literal{{}}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if positive.Match(aliased(names[id])) {
			list = append(list, Literal{Text: id})
		}
	}
	return &Compare{Field: Field{Attributes, "id"}, Op: In, Negate: c.Op == IsNull && !c.Negate, Values: list}
}

// aliased is a run that has nothing but aliases.
type aliased []string

// Values implements Record.
func (a aliased) Values(Field) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, name := range a {
			if !yield(NewValue(name)) {
				return
			}
		}
	}
}
