package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
)

// Find is part of lineage.Names.
func (x *Index) Find(ctx context.Context, fit lineage.Fit, text string) ([]string, error) {
	found, err := x.find(ctx, fit, text)
	if err != nil {
		return nil, fmt.Errorf("ask index for a name: %w", err)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// lastPart is the last part of an id, as tracker.RunID.Name tells it. An index is on just this expression.
const lastPart = "(CASE WHEN substr(id, -1) = '/' THEN id ELSE substr(id, length(rtrim(id, replace(id, '/', ''))) + 1) END)"

func (x *Index) find(ctx context.Context, fit lineage.Fit, text string) ([]string, error) {
	switch fit {
	case lineage.FitID:
		return x.nodes(ctx, anything, "id = ?", text)
	case lineage.FitPlace:
		return x.findPlace(ctx, text)
	case lineage.FitName:
		return x.nodes(ctx, onlyRuns, lastPart+" = ?", text)
	case lineage.FitBeginning:
		return x.nodes(ctx, onlyRuns, lastPart+" >= ? AND "+lastPart+" < ?", text, text+"\U0010ffff")
	case lineage.FitRun:
		return x.nodes(ctx, onlyRuns, "instr(id, ?) > 0", text)
	case lineage.FitInput:
		return x.nodes(ctx, onlyInputs, "instr(id, ?) > 0", text)
	case lineage.FitDescribed:
		return x.nodes(ctx, onlyInputs, `n IN (SELECT source FROM link
			WHERE instr(uri, ?) > 0 OR instr(CASE WHEN version = '' THEN name ELSE name || '@' || version END, ?) > 0)`, text, text)
	case lineage.FitDigest:
		list, err := x.contents(ctx, text)
		return lineage.ContentNodes(list), err
	}
	return nil, nil
}

// Which nodes are wanted.
func anything(lineage.Kind) bool        { return true }
func onlyRuns(kind lineage.Kind) bool   { return kind == lineage.KindRun }
func onlyInputs(kind lineage.Kind) bool { return kind != lineage.KindRun }

// nodes lists the ids of the nodes that are of a wanted kind, recorded or used by some run, and fit a condition.
func (x *Index) nodes(ctx context.Context, wanted func(lineage.Kind) bool, where string, args ...any) ([]string, error) {
	const used = "EXISTS (SELECT 1 FROM link WHERE source = n"
	rows, err := x.db.QueryContext(ctx, `WITH fits AS (SELECT n, id, EXISTS (SELECT 1 FROM run WHERE run.n = node.n) AS recorded FROM node WHERE `+where+`)
		SELECT id, recorded, NOT recorded AND (`+used+` AND role = 'parent') OR `+used+` AND role = 'rerun')),
			NOT recorded AND `+used+` AND role = 'input'), NOT recorded AND `+used+` AND name <> '')
		FROM fits WHERE recorded OR `+used+`)`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var id string
		var recorded, parent, input, named bool
		if err := rows.Scan(&id, &recorded, &parent, &input, &named); err != nil {
			return nil, err
		}
		kind := lineage.KindRun
		if !recorded {
			kind = lineage.KindOf(id, parent, input, named)
		}
		if wanted(kind) {
			list = append(list, id)
		}
	}
	return list, rows.Err()
}

// findPlace finds inputs by URI or name@version, and artifacts by path.
func (x *Index) findPlace(ctx context.Context, text string) ([]string, error) {
	where, args := "uri = ? AND uri <> '' OR name = ? AND version = '' AND name <> ''", []any{text, text}
	for at := range len(text) {
		if text[at] == '@' && at > 0 && at < len(text)-1 {
			where += " OR name = ? AND version = ? AND name <> ''"
			args = append(args, text[:at], text[at+1:])
		}
	}
	list, err := x.nodes(ctx, onlyInputs, "n IN (SELECT source FROM link WHERE "+where+")", args...)
	if err != nil {
		return nil, err
	}
	made, err := x.texts(ctx, "SELECT id || '#' || name FROM artifact JOIN node ON node.n = artifact.run WHERE path = ? AND path <> ''", text)
	return append(list, made...), err
}

// texts reads one column.
func (x *Index) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// maxLabels bounds the search for names that are nearly the one that was typed.
const maxLabels = 100_000

// Similar is part of lineage.Names. Of very many nodes it looks at those that came last.
func (x *Index) Similar(ctx context.Context, text string) (near []string, known bool, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id FROM node ORDER BY n DESC LIMIT ?", maxLabels)
	if err != nil {
		return nil, false, fmt.Errorf("ask index for names: %w", err)
	}
	defer rows.Close()
	search := lineage.NewNearest(text)
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, false, fmt.Errorf("ask index for names: %w", err)
		}
		known = true
		search.See(label(id))
	}
	return search.List(), known, rows.Err()
}

// label is how people call a node whose kind is not known: a URI as it is, of anything else the last part.
func label(id string) string {
	if lineage.IsHandle(id) || !strings.Contains(id, "/") {
		return id[strings.LastIndexByte(id, '/')+1:]
	}
	return id
}
