package dataset

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// recordsAtOnce is how many records are read side by side.
const recordsAtOnce = 16

// Item is a dataset of a store's inventory.
type Item struct {
	Commit    Commit
	Names     []Ref     // in the order of their versions
	Committed time.Time // as the store tells it
	Marked    time.Time // when it was marked for deletion, as the store tells it; zero = it is not
}

// Rows is the number of rows in all splits.
func (i Item) Rows() (n int64) {
	for _, split := range i.Commit.Splits {
		n += split.Rows
	}
	return n
}

// Bytes is the size of all splits.
func (i Item) Bytes() (n int64) {
	for _, split := range i.Commit.Splits {
		n += split.Bytes
	}
	return n
}

// Adopted tells whether the data lie where others put them.
func (i Item) Adopted() bool { return i.Commit.Index < 0 }

// Inventory lists the datasets of a store, those with names first, by name and
// version, then the others, the newest first: one listing, and one request for
// each dataset and name, those that were pruned too.
func Inventory(ctx context.Context, s *store.Store) ([]Item, error) {
	r, err := readRecords(ctx, s)
	if err != nil {
		return nil, err
	}
	return r.items(ctx, s)
}

// records are the objects that describe the datasets of a store.
type records struct {
	commits, labels []store.Object       // of commits, those of the pruned too
	claims          []store.Object       // in the order of their indices
	ended           map[int]bool         // the indices whose end is on record
	marks           map[string]time.Time // by fingerprint
}

const marksDir = "mark"

// readRecords lists them.
func readRecords(ctx context.Context, s *store.Store) (*records, error) {
	r := &records{ended: make(map[int]bool), marks: make(map[string]time.Time)}
	root := string(s.Layout().Heirloom().Join("datasets")) + "/"
	for object, err := range s.List(ctx, root) {
		if err != nil {
			return nil, err
		}
		dir, name, nested := strings.Cut(strings.TrimPrefix(string(object.Key), root), "/")
		switch {
		case !nested:
			r.commits = append(r.commits, object)
		case dir == labelDir(s.Layout()).Base():
			r.labels = append(r.labels, object)
		case dir == marksDir:
			r.marks[name] = object.Modified
		case dir == claimDir(s.Layout()).Base():
			digits, isEnd := strings.CutSuffix(name, endSuffix)
			if n, err := strconv.Atoi(digits); err == nil && isEnd {
				r.ended[n] = true
			} else if err == nil {
				r.claims = append(r.claims, object)
			}
		}
	}
	return r, nil
}

// items reads commits and labels.
func (r *records) items(ctx context.Context, s *store.Store) ([]Item, error) {
	items := make([]*Item, len(r.commits))
	labels := make([]Label, len(r.labels))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(recordsAtOnce)
	for i, object := range r.commits {
		group.Go(func() error {
			fingerprint, generation := parseCommitName(object.Key.Base())
			commit, err := readGeneration(ctx, s, fingerprint, generation)
			if err == nil && commit.Pruned == nil {
				items[i] = &Item{Commit: commit, Committed: object.Modified, Marked: r.marks[string(commit.Fingerprint)]}
			}
			return err
		})
	}
	for i, object := range r.labels {
		group.Go(func() (err error) {
			labels[i], err = Labelled(ctx, s, Ref{Name: object.Key.Dir().Base(), Version: object.Key.Base()})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return arranged(items, labels), nil
}

// arranged gives the items their names and order.
func arranged(items []*Item, labels []Label) []Item {
	names := make(map[store.Digest][]Ref)
	for _, label := range labels {
		names[label.Fingerprint] = append(names[label.Fingerprint], label.Ref())
	}
	var list []Item
	for _, item := range items {
		if item != nil {
			item.Names = names[item.Commit.Fingerprint]
			slices.SortFunc(item.Names, compareRefs)
			list = append(list, *item)
		}
	}
	slices.SortFunc(list, func(a, b Item) int {
		if len(a.Names) == 0 || len(b.Names) == 0 {
			return cmp.Or(-cmp.Compare(min(len(a.Names), 1), min(len(b.Names), 1)),
				b.Committed.Compare(a.Committed), cmp.Compare(a.Commit.Fingerprint, b.Commit.Fingerprint))
		}
		return compareRefs(a.Names[0], b.Names[0])
	})
	return list
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), CompareVersions(a.Version, b.Version))
}
