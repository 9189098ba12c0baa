package index

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite/vtab"
)

// registerModules makes the table ancestry known to SQLite, which keeps such modules for a whole process.
var registerModules = sync.OnceValue(func() error {
	return vtab.RegisterModule(nil, ancestryModule, ancestryTables{})
})

const ancestryModule = "heirloom_ancestry"

// ancestryTables makes tables ancestry (descendant_id, ancestor_id, depth) of the index in the file whose name, in
// hexadecimal, is the argument. A recursive view would go through all ancestries of a root, to throw away most; such a
// table is told whose is wanted, and walks only that, row by row, so that a query can be stopped.
type ancestryTables struct{}

// Create opens a table.
func (ancestryTables) Create(c vtab.Context, args []string) (vtab.Table, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("%s wants the name of a file", ancestryModule)
	}
	file, err := hex.DecodeString(strings.TrimPrefix(args[3], "x")) // a word must not begin with a digit
	if err != nil {
		return nil, err
	}
	if err := c.Declare("CREATE TABLE ancestry (descendant_id TEXT, ancestor_id TEXT, depth INTEGER)"); err != nil {
		return nil, err
	}
	db, err := connectReader(string(file))
	if err != nil {
		return nil, err
	}
	return &ancestry{db: db}, nil
}

// Connect opens a table, as Create.
func (m ancestryTables) Connect(c vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(c, args)
}

// The columns.
const (
	descendantColumn = iota
	ancestorColumn
	depthColumn
)

// The ways to go through the table, and a bit that says that the depth is bounded.
const (
	everyWay = iota // all descendants, one after the other
	upWay           // of one descendant
	downWay         // of one ancestor
	bounded  = 4
)

// ancestry is a table. Statements on it go to a connection of their own: SQLite forbids to use that of the query.
type ancestry struct {
	db *sql.DB
}

// BestIndex chooses the way by what the query compares.
func (a *ancestry) BestIndex(info *vtab.IndexInfo) error {
	way, start, depth := everyWay, -1, -1
	for i, c := range info.Constraints {
		if !c.Usable {
			continue
		}
		switch {
		case c.Op == vtab.OpEQ && c.Column == descendantColumn && way != upWay:
			way, start = upWay, i
		case c.Op == vtab.OpEQ && c.Column == ancestorColumn && way == everyWay:
			way, start = downWay, i
		case c.Column == depthColumn && (c.Op == vtab.OpLE || c.Op == vtab.OpLT || c.Op == vtab.OpEQ):
			depth = i
		}
	}
	info.EstimatedCost, info.EstimatedRows = 1e9, 1e7
	args := 0
	if start >= 0 {
		info.Constraints[start].ArgIndex = args
		args++
		info.EstimatedCost, info.EstimatedRows = 1e4, 1e3
	}
	info.IdxNum = int64(way)
	if depth >= 0 {
		info.Constraints[depth].ArgIndex = args
		info.IdxNum |= bounded
		info.EstimatedCost /= 10
		info.EstimatedRows /= 10
	}
	return nil
}

// Open opens a cursor.
func (a *ancestry) Open() (vtab.Cursor, error) { return &ancestryCursor{db: a.db}, nil }

// Disconnect closes the table.
func (a *ancestry) Disconnect() error { return a.db.Close() }

// Destroy closes the table.
func (a *ancestry) Destroy() error { return a.db.Close() }

// nodesAbove and nodesBelow yield the neighbours of one node: sources and users by links, and of an input the runs that
// made it, since an artifact has its id for a path.
const (
	nodesAbove = `SELECT source FROM link WHERE run = ?1 UNION
		SELECT artifact.run FROM node JOIN artifact ON artifact.path = node.id
		WHERE node.n = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE run.n = ?1)`
	nodesBelow = `SELECT run FROM link WHERE source = ?1 UNION
		SELECT made.n FROM artifact JOIN node AS made ON made.id = artifact.path
		WHERE artifact.run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE run.n = made.n)`
	allNodes = `SELECT n FROM node WHERE n > ?1 ORDER BY n LIMIT 1000`
)

// neighbours yields the nodes that a statement finds for one.
func neighbours(ctx context.Context, db *sql.DB, query string, n int64) ([]int64, error) {
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	var list []int64
	err = each(ctx, stmt, n, func(to int64) { list = append(list, to) })
	return list, err
}
