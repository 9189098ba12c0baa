package benchstore

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// cell is one thing to do: it is done by each tool in turn.
type cell struct {
	place string // minio, minio +20ms, hdfs, local
	load  load
	down  bool
}

func (c cell) String() string {
	way := "up"
	if c.down {
		way = "down"
	}
	return c.place + ", " + c.load.name + " " + way
}

// measured is one tool's way through a cell.
type measured struct {
	tool string
	wall time.Duration
	cpu  time.Duration // user and system, of the client and its children
	peak int64         // bytes of memory of its largest process
	err  error
}

// best is the fastest of several tries.
func best(tries []measured) measured {
	return slices.MinFunc(tries, func(a, b measured) int {
		if (a.err == nil) != (b.err == nil) {
			if a.err == nil {
				return -1
			}
			return 1
		}
		return int(a.wall - b.wall)
	})
}

// results is the table: the rows of a cell are in the order of the tools, heirloom first.
type results []struct {
	cell cell
	rows []measured
}

func (r results) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s %-14s %8s %9s %8s %9s %8s\n", "", "tool", "seconds", "MB/s", "CPU s", "peak MiB", "of best")
	for _, one := range r {
		fastest := best(one.rows).wall
		name := one.cell.String()
		for _, m := range one.rows {
			fmt.Fprintf(&b, "%-30s %-14s %s\n", name, m.tool, m.text(one.cell.load, fastest))
			name = ""
		}
	}
	return b.String() + r.verdict()
}

func (m measured) text(l load, fastest time.Duration) string {
	if m.err != nil {
		return fmt.Sprintf("FAILED: %.80s", strings.ReplaceAll(m.err.Error(), "\n", " "))
	}
	s := m.wall.Seconds()
	return fmt.Sprintf("%8.2f %9.1f %8.2f %9.0f %7.2fx", s, float64(l.bytes())/1e6/s, m.cpu.Seconds(), float64(m.peak)/(1<<20), s/fastest.Seconds())
}

// verdict is a line for each cell: heirloom's time as a part of the fastest other's.
func (r results) verdict() string {
	var b strings.Builder
	b.WriteString("\nheirloom's time, CPU and memory as parts of the fastest other's (1.00 or less is wanted)\n")
	for _, one := range r {
		if len(one.rows) < 2 || one.rows[0].err != nil {
			continue
		}
		ours, other := one.rows[0], best(one.rows[1:])
		if other.err != nil {
			continue
		}
		fmt.Fprintf(&b, "%-30s time %5.2f  CPU %5.2f  memory %5.2f   (%s)\n", one.cell, ours.wall.Seconds()/other.wall.Seconds(),
			ours.cpu.Seconds()/other.cpu.Seconds(), float64(ours.peak)/float64(other.peak), other.tool)
	}
	return b.String()
}
