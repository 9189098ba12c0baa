package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// deletedDir, among the attempts of a run, holds a mark for each deletion of it that stands. There whoever is about to
// start a further attempt comes across it without a request more.
const deletedDir = "deleted"

// KeyDeleted is in the metadata of a run while it is purged, so that TorchX's readers do not take what is left for the run.
const KeyDeleted = "heirloom.deleted" // RFC 3339

// Hide sets mark n, from 1, on a run: one create. As long as a run has a mark, readers take it for gone: Runs, RunIDs of a parent,
// Edges, Lineage and the surveys leave it out, Run and Attempts return a *DeletedError, and so does StartAttempt.
// RunIDs of all runs, and Metadata and Artifacts of a known one, do not look for marks, and TorchX does not know of them. What the run
// holds besides stays as it is. A mark that is there already is no error.
func (t *FileTracker) Hide(ctx context.Context, run RunID, n int) error {
	err := t.mayWrite(ctx, run)
	var body []byte
	if err == nil {
		body, err = pyjson.Marshal(pyjson.NewObject(pyjson.Member{Key: "time", Value: formatTime(t.opts.Now())}))
	}
	if err == nil {
		err = t.s.Create(ctx, markKey(run, n), body)
	}
	if err != nil && !errors.Is(err, store.ErrExist) {
		return fmt.Errorf("hide run %s: %w", printable(string(run)), err)
	}
	return nil
}

// Unhide takes mark n away; that there was none is no error.
func (t *FileTracker) Unhide(ctx context.Context, run RunID, n int) error {
	err := t.mayWrite(ctx, run)
	if err == nil {
		err = t.s.Delete(ctx, markKey(run, n))
	}
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return fmt.Errorf("show run %s: %w", printable(string(run)), err)
	}
	return nil
}

// Hidden returns the numbers of the marks that a run has, sorted: one listing. None means that it is shown.
func (t *FileTracker) Hidden(ctx context.Context, run RunID) ([]int, error) {
	if err := t.mayRead(ctx, run); err != nil {
		return nil, readError(run, err)
	}
	var marks []int
	for o, err := range t.s.List(ctx, string(markDir(run))+"/") {
		if err != nil {
			return nil, readError(run, err)
		}
		if n, err := strconv.Atoi(o.Key.Base()); err == nil && o.Key == markKey(run, n) {
			marks = append(marks, n)
		}
	}
	slices.Sort(marks)
	return marks, nil
}

func markDir(run RunID) store.Key { return run.dir().Join(heirloomDir, attemptsDir, deletedDir) }

func markKey(run RunID, n int) store.Key { return markDir(run).Join(fmt.Sprintf("%06d", n)) }

// DeletedError is a run that has a mark, see FileTracker.Hide. Its kind is store.ErrNotExist.
type DeletedError struct {
	Run RunID
}

func (e *DeletedError) Error() string {
	return fmt.Sprintf("run %s was deleted, and can be restored", printable(string(e.Run)))
}

// Unwrap gives the kind.
func (e *DeletedError) Unwrap() error { return store.ErrNotExist }

// IsDeleted says whether an error is, or wraps, a *DeletedError.
func IsDeleted(err error) bool {
	var deleted *DeletedError
	return errors.As(err, &deleted)
}
