package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// lend gives the credentials that TorchX's configuration holds to the place at url, if it leads there. In a job that
// heirloom launched the variables that name the place have none, so the configuration is read for them.
func (a *app) lend(ctx context.Context, url string, to *store.Options) {
	file := a.getenv("TORCHX_TRACKER_FSSPEC_CONFIG")
	if a.fsspec.URL == "" && file != "" && a.getenv("HEIRLOOM_RUN_ID") != "" && strings.Contains(url, ":") {
		if root, err := tracker.ReadFsspec(ctx, file, a.environ); err == nil {
			a.fsspec = root
		}
	}
	if from := a.fsspec.Options; a.fsspec.Holds(url) {
		to.S3, to.GCS, to.HDFS, to.DBFS = from.S3, from.GCS, from.HDFS, from.DBFS
	}
}

// writer writes to the tracker and to the others of TorchX, all that heirloom can stand in for. The rest it names.
func (a *app) writer(ctx context.Context, c *config.Config, p place) (tracker.Tracker, error) {
	all := []tracker.Tracker{p.tracker}
	for _, other := range c.Others() {
		if !other.Fsspec || other.Config == "" {
			a.warn("the tracker %s of TorchX is none that heirloom writes to; it is not told", other.Name)
			continue
		}
		root, err := tracker.ReadFsspec(ctx, other.Config, a.environ)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", other.Origin, err)
		}
		s, err := store.Open(ctx, root.URL, &root.Options)
		if err != nil {
			return nil, fmt.Errorf("open the tracker %s: %w", other.Name, err)
		}
		a.keep(s)
		all = append(all, a.newTracker(s, nil))
	}
	return tracker.NewFanout(all...), nil
}
