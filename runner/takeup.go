package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// takeUp makes a further attempt find what the earlier ones left. In a store's
// own directory all of it is there. Elsewhere the files of metrics are fetched,
// since the job appends to them and what is stored at its end would replace them;
// of the rest, which may be large, the job is told how to get it.
func (r *run) takeUp(ctx context.Context) error {
	if r.attempt == 1 || !r.leads() || !r.Store.Layout().SavesRuns() {
		return nil
	}
	if !r.place.inPlace {
		if err := r.fetchMetrics(ctx); err != nil {
			return err
		}
	}
	return endLine(filepath.Join(r.place.dir, metricsFile))
}

func (r *run) fetchMetrics(ctx context.Context) error {
	checkpoints := 0
	below := string(r.place.key) + "/"
	for o, err := range r.Store.List(ctx, below) {
		if err != nil {
			return fmt.Errorf("list what earlier attempts stored: %w", err)
		}
		rel := strings.TrimPrefix(string(o.Key), below)
		path := filepath.Join(r.place.dir, filepath.FromSlash(rel))
		top, _, _ := strings.Cut(rel, "/")
		switch {
		case top == reservedDir, top == r.place.logsRel:
		case kindOf(rel, r.Store.Layout().CheckpointFilename()) == tracker.KindMetrics && filepath.IsLocal(rel):
			if _, err := r.Store.Download(ctx, o.Key, path, nil); err != nil {
				return fmt.Errorf("fetch the metrics of earlier attempts: %w", err)
			}
		case strings.HasPrefix(path, r.place.checkpoints+string(filepath.Separator)):
			checkpoints++
		}
	}
	if checkpoints > 0 {
		r.notices = append(r.notices, fmt.Sprintf("files in the checkpoint directory of earlier attempts: %d; "+
			`the job may fetch the latest that is whole by: heirloom checkpoint get "$%s" DIR`, checkpoints, envRunID))
	}
	return nil
}

// endLine ends the last line of a file whose writer may have been killed in the
// midst of it, so that the next one does not go on in that line.
func endLine(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() == 0) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("take up the metrics of earlier attempts: %w", err)
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	if err == nil && last[0] != '\n' {
		_, err = io.WriteString(f, "\n")
	}
	return errors.Join(err, f.Close())
}
