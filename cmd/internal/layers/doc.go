// Package layers places the boxes of a directed graph in columns from left to right, so that links run one way, are
// short, cross little, and go straight where they are long.
//
// It follows the usual steps: turn round what closes cycles, give each box a column, lay points of passage for links
// over several columns, order the columns against crossings, and move all up and down until links are level. All of it
// is deterministic. What long links from one box have in common is one line.
package layers
