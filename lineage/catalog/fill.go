package catalog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Fill puts what the newest version of the catalog of a store knows into an index that was never refreshed, and returns
// that version and the number of runs: one request for the manifest, and one for each MiB of the table of records and
// one or two more. A refresh of the index then reads only what changed since. See index.Fill for what happens beside
// other processes, and Newest for errors; store.ErrUnsupported is also a version whose records are of a newer form.
func Fill(ctx context.Context, s *store.Store, x *index.Index) (*Manifest, int, error) {
	m, err := Newest(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	records, err := openRecords(ctx, s, m)
	if errors.Is(err, store.ErrNotExist) { // it was reclaimed, and latest.json told of it still
		if m, err = newestListed(ctx, s); err == nil {
			records, err = openRecords(ctx, s, m)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read catalog: %w", err)
	}
	n, err := x.Fill(ctx, m.Index.Settings, entries(ctx, records))
	return m, n, err
}

func openRecords(ctx context.Context, s *store.Store, m *Manifest) (*dataset.Reader, error) {
	key := Root(s.Layout()).Join(dirName(m.Number))
	if m.Index.Version > index.EntryVersion {
		return nil, &store.Error{Op: "read records", Key: string(key), Kind: store.ErrUnsupported,
			Err: fmt.Errorf("they are of version %d, and this program knows up to %d: a newer heirloom reads them", m.Index.Version, index.EntryVersion)}
	}
	file := m.Table(recordsTable)
	if file == nil {
		return nil, &store.Error{Op: "read records", Key: string(key), Kind: store.ErrCorrupt, Err: errors.New("the manifest does not list them")}
	}
	return dataset.OpenFile(ctx, s, Root(s.Layout()).Join(file.File.Name), file.File)
}

// entries reads the table of records.
func entries(ctx context.Context, records *dataset.Reader) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for rows, err := range records.Tables(ctx, []string{"run_id", "print", "settled", "body", "sources"}) {
			if err != nil {
				yield(index.Entry{}, err)
				return
			}
			for i := range rows.Rows() {
				e, err := entry(rows, i)
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// entry reads one row. The columns are in the order in which they were asked for.
func entry(rows dataset.Table, i int) (index.Entry, error) {
	texts := make([]string, 0, 4)
	for _, at := range []int{0, 1, 3, 4} {
		column, ok := rows[at].Values.([]string)
		if !ok {
			return index.Entry{}, fmt.Errorf("column %s holds %T: %w", rows[at].Name, rows[at].Values, store.ErrCorrupt)
		}
		texts = append(texts, column[i])
	}
	settled, _ := rows[2].Values.([]bool)
	e := index.Entry{Run: &tracker.Run{ID: tracker.RunID(texts[0])}, Body: texts[2], Sources: texts[3]}
	e.Settled = settled != nil && settled[i]
	print, err := hex.DecodeString(texts[1])
	if err != nil || len(print) != len(e.Print) {
		return e, fmt.Errorf("run %s has no print: %w", e.Run.ID, store.ErrCorrupt)
	}
	copy(e.Print[:], print)
	return e, nil
}
