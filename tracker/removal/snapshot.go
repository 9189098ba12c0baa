package removal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The directories of a run that this package tells apart; docs of package tracker have them all.
const (
	metadataDir    = "metadata"
	sourcesDir     = "sources"
	descendantsDir = "descendants"
	linksDir       = "heirloom/links"
	turnsDir       = "heirloom/turns"
	marksDir       = "heirloom/attempts/deleted"
)

// snapshot is what a run consists of, without its marks and what is derived from the records of others.
type snapshot struct {
	records []store.Object // keys below the tracker's root
	derived []store.Object // likewise: the mirror of children, whose links tell of them, and turns
	output  []store.Object // keys of the store
	parents []string       // directories of its sources, each once
}

// snap lists a run: its records and its output.
func (l *Ledger) snap(ctx context.Context, run tracker.RunID) (*snapshot, error) {
	s := &snapshot{}
	dir := run.Encode() + "/"
	for o, err := range l.t.Store().List(ctx, dir) {
		if err != nil {
			return nil, fmt.Errorf("list run %s: %w", run, err)
		}
		s.add(strings.TrimPrefix(string(o.Key), dir), o)
	}
	for o, err := range l.s.List(ctx, string(l.s.Layout().RunDir(string(run)))+"/") {
		if err != nil {
			return nil, fmt.Errorf("list output of run %s: %w", run, err)
		}
		s.output = append(s.output, o)
	}
	return s, nil
}

// add sorts one object of the run's directory into its place.
func (s *snapshot) add(name string, o store.Object) {
	switch {
	case strings.HasPrefix(name, marksDir+"/"):
		return
	case strings.HasPrefix(name, descendantsDir+"/"), strings.HasPrefix(name, turnsDir+"/"):
		s.derived = append(s.derived, o)
		return
	}
	s.records = append(s.records, o)
	for _, dir := range []string{sourcesDir, linksDir} {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if parent, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(s.parents, parent) {
			s.parents = append(s.parents, parent)
		}
	}
}

// print is a digest of names, sizes and versions: it changes whenever the run is written to.
func (s *snapshot) print() string {
	sum := sha256.New()
	for _, list := range [][]store.Object{s.records, s.output} {
		for _, o := range list {
			fmt.Fprintf(sum, "%s\x00%d\x00%s\n", o.Key, o.Size, o.Version)
		}
		fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (s *snapshot) bytes() (n int64) {
	for _, list := range [][]store.Object{s.records, s.derived, s.output} {
		for _, o := range list {
			n += o.Size
		}
	}
	return n
}

// versions are those of all objects, by key.
func versions(lists ...[]store.Object) map[store.Key]file {
	all := map[store.Key]file{}
	for _, list := range lists {
		for _, o := range list {
			all[o.Key] = newFile(o)
		}
	}
	return all
}

// mirrors are the files by which TorchX finds the run among the descendants of its sources.
func (s *snapshot) mirrors(run tracker.RunID) []store.Key {
	keys := make([]store.Key, len(s.parents))
	for i, parent := range s.parents {
		keys[i] = store.Key(path.Join(parent, descendantsDir, run.Encode()))
	}
	return keys
}
