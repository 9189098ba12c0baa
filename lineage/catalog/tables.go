package catalog

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// tables writes all tables of one version side by side, from one pass over an index.
type tables struct {
	writers map[string]*tableWriter
	graph   *graph
	inputs  *inputs
	depth   int // of the table of ancestry; 0 = complete
}

// newTables begins the tables of a version in the directory of all versions.
func newTables(s *store.Store, root store.Key, dir string) (*tables, error) {
	t := &tables{writers: map[string]*tableWriter{}, graph: newGraph(), inputs: newInputs()}
	for _, table := range Tables() {
		w, err := newTableWriter(s, root, dir+"/"+table.Name+"/"+table.Name+".parquet", table)
		if err != nil {
			return nil, err
		}
		t.writers[table.Name] = w
	}
	return t, nil
}

// abort gives up what is not closed.
func (t *tables) abort() {
	for _, w := range t.writers {
		w.file.Abort()
	}
}

// close completes all files, in the order of Tables.
func (t *tables) close(ctx context.Context) ([]TableFile, error) {
	var list []TableFile
	for _, table := range Tables() {
		file, err := t.writers[table.Name].close(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	return list, nil
}

func (t *tables) add(ctx context.Context, table string, cells ...any) error {
	return t.writers[table].add(ctx, cells...)
}

// entry writes all rows of one run. The runs come in the order of their ids; runs holds all of them.
func (t *tables) entry(ctx context.Context, e index.Entry, runs map[tracker.RunID]bool) error {
	for _, write := range []func() error{
		func() error { return t.run(ctx, e) },
		func() error { return t.metadata(ctx, e.Run) },
		func() error { return t.artifacts(ctx, e.Run) },
		func() error { return t.links(ctx, e.Run, runs) },
		func() error {
			return t.add(ctx, recordsTable, string(e.Run.ID), hex.EncodeToString(e.Print[:]), e.Settled, e.Body, e.Sources)
		},
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) run(ctx context.Context, e index.Entry) error {
	r := filter.Run{Run: e.Run}
	var duration any
	if !r.Started.IsZero() && !r.Ended.IsZero() {
		duration = r.Ended.Sub(r.Started).Seconds()
	}
	var exit any
	if raw, ok := r.Metadata.Get(tracker.KeyExitCode); ok {
		if code, ok := raw.(int64); ok {
			exit = code
		}
	}
	text := r.Metadata.Text
	return t.add(ctx, runsTable, string(r.ID), r.Name(), string(r.State), e.LostAt, r.Started, r.Ended, duration, int64(len(r.Attempts)),
		exit, text(tracker.KeySignal), text(tracker.KeyUser), text(tracker.KeyHost), text(tracker.KeyProject), text(tracker.KeyExperiment),
		r.Command(), text(tracker.KeyOutputDir), text(tracker.KeyGitCommit), text(tracker.KeyGitBranch),
		int64(len(r.Sources)), int64(len(r.Warnings)))
}

func (t *tables) metadata(ctx context.Context, run *tracker.Run) error {
	for _, key := range slices.Sorted(slices.Values(run.Metadata.Keys())) {
		raw, _ := run.Metadata.Get(key)
		if raw == nil {
			continue
		}
		v := filter.NewValue(raw)
		var number, integer, boolean any
		if v.IsNumber {
			number = v.Number
		}
		switch typed := raw.(type) {
		case int64:
			integer = typed
		case bool:
			boolean = typed
		}
		if err := t.add(ctx, metadataTable, string(run.ID), key, index.TypeName(raw), v.Text, number, integer, boolean); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) artifacts(ctx context.Context, run *tracker.Run) error {
	for _, a := range run.Artifacts {
		var size any
		if n, ok := a.SizeBytes(); ok {
			size = n
		}
		if err := t.add(ctx, artifactTable, string(run.ID), a.Name, a.Path, a.Key(), a.Kind(), a.SHA256(), size); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) links(ctx context.Context, run *tracker.Run, runs map[tracker.RunID]bool) error {
	for _, s := range run.Sources {
		isRun := runs[s.ID]
		err := t.add(ctx, linksTable, string(run.ID), string(s.ID), s.Artifact, string(s.Role), s.Time, s.URI, s.Name, s.Version, s.Digest, isRun)
		if err == nil {
			err = t.edge(ctx, string(s.ID), string(run.ID), s.Artifact, string(s.Role))
		}
		if err != nil {
			return err
		}
		if !isRun {
			t.inputs.add(run.ID, s)
		}
	}
	return nil
}

func (t *tables) edge(ctx context.Context, source, target, artifact, role string) error {
	t.graph.add(source, target)
	return t.add(ctx, edgesTable, source, target, artifact, role)
}

// ancestry writes the closure of the edges, of which there are no more.
func (t *tables) ancestry(ctx context.Context, limit int) error {
	t.graph.sort()
	t.depth = t.graph.depthWithin(limit)
	most := t.depth
	if most == 0 {
		most = len(t.graph.ids) + 1
	}
	for n := range t.graph.ids {
		err := ctx.Err()
		t.graph.walk(int32(n), most, func(depth int, level []int32) bool {
			for _, at := range level {
				if err == nil {
					err = t.add(ctx, ancestryTable, t.graph.ids[n], t.graph.ids[at], int64(depth))
				}
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// alias writes what a name means.
func (t *tables) alias(ctx context.Context, a alias.Alias) error {
	return t.add(ctx, aliasesTable, a.Name, a.Node, string(a.Run()), a.Artifact, a.Number, a.Time, a.User, a.Reason)
}
