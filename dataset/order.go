package dataset

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// Shard asks for one of several parts of the rows, each of which is a run of
// rows in the order in which all would be read. The shards of any Of cover every
// row once and differ by one row at most; where Where is given, this is so
// before it applies. The zero value is all rows.
type Shard struct {
	Index int // from 0
	Of    int // 0 and 1 are all rows
}

// Cursor is a place between two rows of one reading. Its text is opaque and may
// be stored; it fits only the same files read with the same shard and shuffle.
type Cursor struct {
	reading uint64 // which reading it belongs to
	row     int64  // in the order
	skip    int64  // rows of the window of a shuffle that begins at row
}

// MarshalText follows encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) {
	if c == (Cursor{}) {
		return nil, nil
	}
	return fmt.Appendf(nil, "1.%x.%d.%d", c.reading, c.row, c.skip), nil
}

// UnmarshalText follows encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(text []byte) (err error) {
	*c = Cursor{}
	if len(text) == 0 {
		return nil
	}
	fields := strings.Split(string(text), ".")
	if len(fields) != 4 || fields[0] != "1" {
		return fmt.Errorf("%q is not a cursor", text)
	}
	var errs [3]error
	c.reading, errs[0] = strconv.ParseUint(fields[1], 16, 64)
	c.row, errs[1] = strconv.ParseInt(fields[2], 10, 64)
	c.skip, errs[2] = strconv.ParseInt(fields[3], 10, 64)
	if errors.Join(errs[:]...) != nil || c.row < 0 || c.skip < 0 {
		return fmt.Errorf("%q is not a cursor", text)
	}
	return nil
}

// order is the sequence of row groups that one reading goes through, and which
// rows of it.
type order struct {
	reading  uint64
	units    []unit
	start    int64 // the first row of the shard
	from, to int64 // rows
	skip     int64
}

// unit is a file, or with a shuffle a row group, and where its rows lie in the order.
type unit struct {
	file, group int // group -1 = all of the file
	from, to    int64
}

func (o order) cursor(row, skip int64) Cursor {
	return Cursor{reading: o.reading, row: row, skip: skip}
}

// newOrder plans a reading.
func (r *Reader) newOrder(ctx context.Context, opts *ReadOptions) (order, error) {
	shards := max(opts.Shard.Of, 1)
	if opts.Shard.Of < 0 || opts.Shard.Index < 0 || opts.Shard.Index >= shards {
		return order{}, failure("read dataset", r.dir, store.ErrInvalid, fmt.Errorf("shard %d of %d", opts.Shard.Index, opts.Shard.Of))
	}
	o := order{reading: r.reading(opts)}
	if opts.Shuffle == nil {
		for i := range r.files {
			o.add(i, -1, r.files[i].Rows)
		}
	} else if err := r.shuffled(ctx, &o, opts.Shuffle); err != nil {
		return order{}, err
	}
	o.start, o.to = cut(r.rows, opts.Shard.Index, shards), cut(r.rows, opts.Shard.Index+1, shards)
	o.from = o.start
	if opts.From != (Cursor{}) {
		if opts.From.reading != o.reading || opts.From.row < o.from || opts.From.row > o.to {
			return order{}, failure("read dataset", r.dir, store.ErrInvalid,
				errors.New("the cursor is from another reading: of other files, another shard or another shuffle"))
		}
		o.from, o.skip = opts.From.row, opts.From.skip
	}
	return o, nil
}

func (o *order) add(file, group int, rows int64) {
	from := int64(0)
	if len(o.units) > 0 {
		from = o.units[len(o.units)-1].to
	}
	o.units = append(o.units, unit{file: file, group: group, from: from, to: from + rows})
}

// cut is rows*i/n without overflow.
func cut(rows int64, i, n int) int64 {
	each, rest := rows/int64(n), rows%int64(n)
	return each*int64(i) + min(rest*int64(i)/int64(n), rest)
}

// reading tells readings apart for which a cursor means different rows.
func (r *Reader) reading(opts *ReadOptions) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, r.rows, opts.Shard.Index, max(opts.Shard.Of, 1))
	for _, file := range r.files {
		fmt.Fprintln(h, file.Name, file.Rows, file.Bytes)
	}
	if opts.Shuffle != nil {
		fmt.Fprintln(h, "shuffle", *opts.Shuffle, opts.Where)
	}
	return h.Sum64() | 1 // never that of the zero value
}

// groupRows lists the rows of each row group of each file; footers that were not
// read yet are read now.
func (r *Reader) groupRows(ctx context.Context) ([][]int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups != nil {
		return r.groups, nil
	}
	groups := make([][]int64, len(r.files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(footersAtOnce)
	for i := range r.files {
		g.Go(func() error {
			p, err := r.part(ctx, i)
			if err == nil {
				groups[i] = p.groupSizes()
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.groups = groups
	return groups, nil
}
