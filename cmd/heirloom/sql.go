package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

// sqlFlags are what sql is told.
type sqlFlags struct {
	file      string
	timeout   time.Duration
	schema    bool
	freshness freshness
}

func newSQL(a *app) *cobra.Command {
	var f sqlFlags
	c := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "ask about runs, metadata, artifacts and links by SQL",
		Long: `Ask by SQL, in SQLite's dialect, over the tables runs, metadata, artifacts, links,
edges, ancestry, datasets and aliases; --schema lists their columns. They are the
tables that heirloom catalog publish writes. The query is an argument, a file, or
stdin. Nothing can be changed by it.`,
		Example: `  heirloom sql "SELECT state, count(*) FROM runs GROUP BY state"
  heirloom sql "SELECT run_id, number FROM metadata WHERE key = 'metrics.accuracy' ORDER BY number DESC LIMIT 5"
  heirloom sql -f report.sql -o csv > report.csv
  heirloom sql --schema`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.runSQL(c, args, f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "read the query from this `FILE`; - is stdin")
	f.timeout = 30 * time.Second
	ageFlag(flags, &f.timeout, "timeout", "`TIME` after which the query is given up; 0 = never")
	flags.BoolVar(&f.schema, "schema", false, "list the tables and their columns instead")
	f.freshness.register(c)
	return c
}

func (a *app) runSQL(c *cobra.Command, args []string, f sqlFlags) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if f.schema {
		return a.printList(sqlSchema(index.Views(time.Now())), format)
	}
	query, err := a.sqlQuery(c, args, f.file)
	if err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	var answer *index.Answer
	var complete *render.Completeness
	err = a.ask(c.Context(), c, p, f.freshness, func(x *index.Index) error {
		if answer, err = selectRows(c.Context(), x, query, f.timeout); err != nil {
			return err
		}
		complete, err = a.completeness(c.Context(), x)
		return err
	})
	if err != nil {
		return err
	}
	list := sqlRows(answer)
	list.AddCompleteness(complete)
	if err := a.printList(list, format); err != nil {
		return err
	}
	a.noteCompleteness(complete)
	return nil
}

// sqlQuery is the query from wherever it stands.
func (a *app) sqlQuery(c *cobra.Command, args []string, file string) (string, error) {
	switch {
	case len(args) > 1:
		return "", usagef(c.CommandPath(), "%d arguments: the query is one, in quotes", len(args))
	case len(args) == 1 && file != "":
		return "", usagef(c.CommandPath(), "a query and --file contradict each other")
	case len(args) == 1:
		return args[0], nil
	case file == "" && a.style(a.stderr).Terminal:
		return "", usagef(c.CommandPath(), "missing QUERY (or --file FILE, or --schema)")
	case file == "" || file == "-":
		body, err := io.ReadAll(a.stdin)
		return string(body), err
	}
	body, err := os.ReadFile(file)
	return string(body), err
}

// selectRows asks, for a time; 0 = for ever.
func selectRows(ctx context.Context, x *index.Index, query string, timeout time.Duration) (*index.Answer, error) {
	if timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = limited
	}
	answer, err := x.Select(ctx, query)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("the query takes longer than %s: say more of what is wanted, such as whose ancestry, or give it --timeout", timeout)
	}
	return answer, err
}

// sqlRows is an answer as a list. A blob is shown in hexadecimal.
func sqlRows(answer *index.Answer) render.List {
	l := render.List{Key: "rows", Rows: answer.Rows}
	for i, name := range answer.Columns {
		numbers := false
		for _, row := range answer.Rows {
			if blob, ok := row[i].([]byte); ok {
				row[i] = fmt.Sprintf("%x", blob)
			}
			switch row[i].(type) {
			case int64, float64:
				numbers = true
			}
		}
		texts := slices.ContainsFunc(answer.Rows, func(row []any) bool { _, is := row[i].(string); return is })
		l.Columns = append(l.Columns, render.Column{Name: name, Exact: true, Right: numbers && !texts})
	}
	return l
}

func sqlSchema(views []index.View) render.List {
	l := render.List{Key: "columns", Columns: []render.Column{{Name: "table"}, {Name: "column"}, {Name: "type"}, {Name: "meaning"}}}
	for _, v := range views {
		l.Rows = append(l.Rows, []any{v.Name, nil, nil, v.Meaning})
		for _, c := range v.Columns {
			l.Rows = append(l.Rows, []any{v.Name, c.Name, c.Type, c.Meaning})
		}
	}
	return l
}
