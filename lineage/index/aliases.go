package index

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/alias"
)

// CatchUpAliases brings what the index knows of aliases up to date: one listing, and one read for each that changed.
func (x *Index) CatchUpAliases(ctx context.Context, set *alias.Set) error {
	known, err := x.aliasNumbers(ctx)
	if err != nil {
		return fmt.Errorf("refresh aliases: %w", err)
	}
	list, err := set.Since(ctx, known)
	if err != nil {
		return fmt.Errorf("refresh aliases: %w", err)
	}
	if !aliasesDiffer(known, list) {
		return nil
	}
	err = x.write(ctx, func(w *writer) error { return w.putAliases(ctx, known, list) })
	if err != nil {
		return fmt.Errorf("refresh aliases: %w", err)
	}
	return nil
}

// aliasesDiffer spares the lock of a writer where there is nothing to write.
func aliasesDiffer(known map[string]int64, list []alias.Alias) bool {
	for _, a := range list {
		if known[a.Name] != a.Number {
			return true
		}
	}
	return len(known) != len(list)
}

// putAliases writes those that changed, and forgets those of which nothing is left.
func (w *writer) putAliases(ctx context.Context, known map[string]int64, list []alias.Alias) error {
	left := map[string]bool{}
	for _, a := range list {
		left[a.Name] = true
		if known[a.Name] == a.Number {
			continue
		}
		err := w.exec(ctx, "INSERT OR REPLACE INTO alias (name, number, node, artifact, time, user, reason) VALUES (?, ?, ?, ?, ?, ?, ?)",
			a.Name, a.Number, a.Node, a.Artifact, nanos(a.Time), a.User, a.Reason)
		if err != nil {
			return err
		}
	}
	for name := range known {
		if left[name] {
			continue
		}
		if err := w.exec(ctx, "DELETE FROM alias WHERE name = ?", name); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) aliasNumbers(ctx context.Context) (map[string]int64, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT name, number FROM alias")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		known[name] = n
	}
	return known, rows.Err()
}

// Aliases returns what every alias meant when they were last looked at, by name, without those that were removed.
func (x *Index) Aliases(ctx context.Context) ([]alias.Alias, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT name, number, node, artifact, time, user, reason FROM alias WHERE node <> '' ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("ask index for aliases: %w", err)
	}
	defer rows.Close()
	var list []alias.Alias
	for rows.Next() {
		var a alias.Alias
		var at sql.NullInt64
		if err := rows.Scan(&a.Name, &a.Number, &a.Node, &a.Artifact, &at, &a.User, &a.Reason); err != nil {
			return nil, fmt.Errorf("ask index for aliases: %w", err)
		}
		if at.Valid {
			a.Time = time.Unix(0, at.Int64).UTC()
		}
		list = append(list, a)
	}
	return list, rows.Err()
}
