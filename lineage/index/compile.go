package index

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// condition is SQL over the table run, with the values of its placeholders.
type condition struct {
	sql  strings.Builder
	args []any
	now  time.Time
	// sets: a comparison with metadata first finds all runs for which it holds, by the indexes of values. Else each run
	// is looked at by itself, which is better where few have to be.
	sets  bool
	since int64 // only runs that started then or later, in nanoseconds since the Unix epoch; 0 = all
}

func (c *condition) add(sql string, args ...any) {
	c.sql.WriteString(sql)
	c.args = append(c.args, args...)
}

// where compiles a filter.
func (c *condition) where(e filter.Expr) {
	switch e := e.(type) {
	case *filter.And:
		c.pair(e.X, " AND ", e.Y)
	case *filter.Or:
		c.pair(e.X, " OR ", e.Y)
	case *filter.Not:
		c.add("NOT ")
		c.group(e.X)
	case *filter.Compare:
		c.compare(e)
	}
}

func (c *condition) pair(x filter.Expr, word string, y filter.Expr) {
	c.group(x)
	c.add(word)
	c.group(y)
}

func (c *condition) group(e filter.Expr) {
	c.add("(")
	c.where(e)
	c.add(")")
}

// column is where the values of a field are: an expression each for their text and number, "" where there is none, the
// FROM clause that yields them for the run at hand, and, where they can be searched, the one that yields them for all.
type column struct {
	from         string
	all          string // "" = they cannot
	run          string // the run that a value belongs to, in all
	args         []any
	text, number string
	time         string
}

// compare asks whether some value of the field satisfies the comparison.
func (c *condition) compare(e *filter.Compare) {
	col := c.column(e.Field)
	if e.Op == filter.IsNull {
		c.add(existence(!e.Negate)+"(SELECT 1 "+col.from+")", col.args...)
		return
	}
	if c.sets && col.all != "" {
		c.add("run.n IN (SELECT "+col.run+" "+col.all+" AND ", col.args...)
	} else {
		c.add("EXISTS (SELECT 1 "+col.from+" AND ", col.args...)
	}
	if e.Negate {
		c.add("(" + comparable(col, e) + ") AND NOT ")
	}
	c.add("(")
	for i, v := range e.Values {
		if i > 0 {
			c.add(" OR ")
		}
		c.value(col, e, v)
	}
	c.add("))")
}

// comparable tells whether a value is of a type that one of the literals compares with: else a negation does not hold.
func comparable(col column, e *filter.Compare) string {
	for _, v := range e.Values {
		if !v.IsNumber || col.time != "" {
			return "1"
		}
	}
	return col.number + " IS NOT NULL"
}

func existence(absent bool) string {
	if absent {
		return "NOT EXISTS "
	}
	return "EXISTS "
}

// value compares with one literal. It is never NULL, so that it can be negated.
func (c *condition) value(col column, e *filter.Compare, v filter.Literal) {
	op := string(e.Op)
	if e.Op == filter.In {
		op = "="
	}
	switch {
	case e.Op == filter.Like || e.Op == filter.ILike:
		c.add(col.text+" GLOB ?", globOf(v.Text, e.Op == filter.ILike))
	case col.time != "":
		c.add(col.time+" "+op+" ?", v.Nanos)
	case v.IsNumber:
		c.add("("+col.number+" IS NOT NULL AND "+col.number+" "+op+" ?)", v.Number)
	default:
		c.add(col.text+" "+op+" ?", v.Text)
	}
}

// globOf turns a LIKE pattern into one of SQLite's GLOB, which minds case and has sets of characters.
func globOf(pattern string, foldCase bool) string {
	var b strings.Builder
	for _, r := range pattern {
		switch {
		case r == '%':
			b.WriteByte('*')
		case r == '_':
			b.WriteByte('?')
		case strings.ContainsRune("*?[", r):
			b.WriteString("[" + string(r) + "]")
		case foldCase && unicode.SimpleFold(r) != r:
			b.WriteByte('[')
			b.WriteRune(r)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				b.WriteRune(f)
			}
			b.WriteByte(']')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// column finds the values of a field.
func (c *condition) column(f filter.Field) column {
	switch f.Entity {
	case filter.Attributes:
		return c.attribute(f.Name)
	case filter.Artifacts:
		return property("artifact", "run", artifactColumns[f.Name])
	case filter.Parents:
		return parentColumn(f.Name)
	case filter.Datasets:
		return property("link", "run", datasetColumns[f.Name])
	}
	return metadata(f.Key())
}

func metadata(key string) column {
	all := "FROM meta WHERE meta.k = (SELECT k FROM metakey WHERE name = ?)"
	return column{
		from: all + " AND meta.run = run.n", all: all, run: "meta.run", args: []any{key}, text: "meta.text", number: "meta.number",
	}
}

// artifactColumns and datasetColumns are where properties are kept, and how to tell that there is a value.
var (
	artifactColumns = map[string]string{"name": "name", "path": "path", "kind": "kind", "sha256": "sha256", "size_bytes": "size_bytes"}
	datasetColumns  = map[string]string{"name": "name", "version": "version", "digest": "digest", "uri": "uri"}
)

func property(table, run, name string) column {
	col := table + "." + name
	from := fmt.Sprintf("FROM %s WHERE %s.%s = run.n AND %s <> ''", table, table, run, col)
	if table == "link" {
		from += " AND link.name <> ''"
	}
	return column{from: from, text: col, number: col}
}

func parentColumn(name string) column {
	if name == "id" {
		return column{from: "FROM link JOIN node ON node.n = link.source WHERE link.run = run.n AND node.id <> ''", text: "node.id"}
	}
	return column{from: "FROM link WHERE link.run = run.n AND link." + name + " <> ''", text: "link." + name}
}

// attributeKeys are the attributes that are metadata under another name.
var attributeKeys = map[string]string{
	"user": tracker.KeyUser, "host": tracker.KeyHost, "project": tracker.KeyProject, "experiment": tracker.KeyExperiment,
	"output_dir": tracker.KeyOutputDir, "exit_code": tracker.KeyExitCode, "signal": tracker.KeySignal,
	"git_commit": tracker.KeyGitCommit, "git_branch": tracker.KeyGitBranch,
}

func (c *condition) attribute(name string) column {
	one := func(expr, present string) column {
		return column{from: "FROM (SELECT 1) WHERE " + present, text: expr, number: expr}
	}
	switch name {
	case "id":
		return column{from: "FROM node WHERE node.n = run.n", text: "node.id"}
	case "name":
		return one("run.name", "1")
	case "state":
		return one(stateExpr(c.now), "1")
	case "started", "ended":
		return column{from: "FROM (SELECT 1) WHERE run." + name + " IS NOT NULL", time: "run." + name}
	case "duration_seconds":
		return one("((run.ended - run.started) / 1e9)", "run.ended IS NOT NULL AND run.started IS NOT NULL")
	case "attempts":
		return one("run.attempts", "run.attempts > 0")
	case "command":
		return one("run.command", "run.command <> ''")
	}
	return metadata(attributeKeys[name])
}

// stateExpr is the state of a run at a time.
func stateExpr(now time.Time) string {
	return fmt.Sprintf("CASE WHEN run.state = '%s' AND run.lost_at < %d THEN '%s' ELSE run.state END",
		tracker.Running, now.UnixNano(), tracker.Lost)
}
