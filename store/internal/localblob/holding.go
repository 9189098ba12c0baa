package localblob

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// Holding is a directory, and whether it holds something.
type Holding struct {
	Elem  string // of the key
	Holds bool
}

// DirsHolding returns the directories right below dir ("" = all), sorted as ReadDir does, each with whether there is an
// object at, or below, one of the keys in wanted, which are relative to it, and none at or below one of unwanted: a look
// at each, on all cores, and no walk.
func (b *Bucket) DirsHolding(ctx context.Context, dir string, wanted, unwanted []string) ([]Holding, error) {
	var list []Holding
	for e, err := range b.ReadDir(ctx, dir) {
		if err != nil {
			return nil, err
		}
		if e.IsDir {
			list = append(list, Holding{Elem: e.Key[len(dirtree.Below(dir)):]})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	const share = 256
	for some := range slices.Chunk(list, share) {
		group.Go(func() error {
			for i := range some {
				at := dirtree.Below(dir) + some[i].Elem
				holds, err := b.holdsAny(ctx, at, wanted)
				if err == nil && holds {
					var spoilt bool
					spoilt, err = b.holdsAny(ctx, at, unwanted)
					holds = !spoilt
				}
				if err != nil {
					return err
				}
				some[i].Holds = holds
			}
			return nil
		})
	}
	return list, group.Wait()
}

func (b *Bucket) holdsAny(ctx context.Context, dir string, keys []string) (bool, error) {
	_, top := b.opened()
	for _, key := range keys {
		at := dirtree.Below(dir) + key
		if exists, ok := existsBelow(top, pathOf(at)); ok && !exists {
			continue
		}
		if holds, err := b.holds(ctx, at); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

// holds says whether there is an object at key or below it.
func (b *Bucket) holds(ctx context.Context, key string) (bool, error) {
	for o, err := range b.Walk(ctx, key) {
		if err != nil {
			return false, err
		}
		if o.Key == key || strings.HasPrefix(o.Key, key+"/") {
			return true, nil
		}
	}
	return false, nil
}
