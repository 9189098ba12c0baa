package index

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite/vtab"
)

// ancestryCursor walks the ancestry of one node after the other, each level by level. Of a node that is its own ancestor
// by a cycle, that is a row too.
type ancestryCursor struct {
	db      *sql.DB
	query   string // for neighbours
	deepest int64  // levels to walk; 0 = all
	upwards bool

	starts []int64 // still to come
	every  bool    // all nodes are: starts holds the next ones
	last   int64   // the last of them

	start int64
	seen  map[int64]bool
	queue []ancestryStep // the first is the row; those from walked on wait for their neighbours
	row   int64
}

type ancestryStep struct {
	node, depth int64
}

// Filter begins a walk.
func (c *ancestryCursor) Filter(way int, _ string, args []vtab.Value) error {
	*c = ancestryCursor{db: c.db, upwards: true, query: nodesAbove}
	if way&bounded != 0 {
		c.deepest, _ = args[len(args)-1].(int64)
		if c.deepest < 1 {
			return nil // no row is so near
		}
	}
	switch way &^ bounded {
	case everyWay:
		c.every = true
	case downWay:
		c.upwards, c.query = false, nodesBelow
		fallthrough
	default:
		id, _ := args[0].(string)
		var n int64
		err := c.db.QueryRow("SELECT n FROM node WHERE id = ?", id).Scan(&n) //nolint:noctx // SQLite hands none to a table
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		c.starts = []int64{n}
	}
	return c.settle()
}

// Next goes to the next row.
func (c *ancestryCursor) Next() error {
	step := c.queue[0]
	c.queue = c.queue[1:]
	c.row++
	if err := c.expand(step); err != nil {
		return err
	}
	return c.settle()
}

// expand puts the neighbours of a node that are new behind the others.
func (c *ancestryCursor) expand(step ancestryStep) error {
	if c.deepest > 0 && step.depth >= c.deepest {
		return nil
	}
	list, err := neighbours(context.Background(), c.db, c.query, step.node)
	for _, n := range list {
		if !c.seen[n] {
			c.seen[n] = true
			c.queue = append(c.queue, ancestryStep{n, step.depth + 1})
		}
	}
	return err
}

// settle begins with the next nodes until there is a row.
func (c *ancestryCursor) settle() error {
	for len(c.queue) == 0 {
		if len(c.starts) == 0 && c.every {
			list, err := neighbours(context.Background(), c.db, allNodes, c.last)
			if err != nil {
				return err
			}
			c.starts, c.every = list, len(list) > 0
		}
		if len(c.starts) == 0 {
			return nil
		}
		c.start, c.starts = c.starts[0], c.starts[1:]
		c.last, c.seen = c.start, map[int64]bool{}
		if err := c.expand(ancestryStep{c.start, 0}); err != nil {
			return err
		}
	}
	return nil
}

// Eof reports whether there is no row.
func (c *ancestryCursor) Eof() bool { return len(c.queue) == 0 }

// Column is a cell of the row.
func (c *ancestryCursor) Column(column int) (vtab.Value, error) {
	if column == depthColumn {
		return c.queue[0].depth, nil
	}
	n := c.queue[0].node
	if (column == descendantColumn) == c.upwards {
		n = c.start
	}
	var id string
	err := c.db.QueryRow("SELECT id FROM node WHERE n = ?", n).Scan(&id) //nolint:noctx // SQLite hands none to a table
	return id, err
}

// Rowid numbers the rows.
func (c *ancestryCursor) Rowid() (int64, error) { return c.row, nil }

// Close ends the walk.
func (c *ancestryCursor) Close() error { return nil }
