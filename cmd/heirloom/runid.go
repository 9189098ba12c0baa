package main

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// wholeID is the run that is to be begun or attempted again. A part of an id is refused: it would begin a run that looks
// like the one that was meant. An id of another form is one if it is recorded.
func (p place) wholeID(ctx context.Context, text string) (tracker.RunID, error) {
	id, err := tracker.ParseRunID(text)
	if err != nil || isHandle(text) {
		return id, err
	}
	switch found, err := p.findRun(ctx, text); {
	case errors.Is(err, store.ErrNotExist) && strings.Contains(text, "://"):
		_, err := runner.ParseHandle(text) // which says what is wrong with it
		return "", err
	case errors.Is(err, store.ErrNotExist):
		return "", invalidf("--run %q is not a full id, which is scheduler://session/name", text)
	case err != nil:
		return "", err
	case found != id:
		return "", invalidf("--run %q is not a full id; a run that it fits is %s", text, found)
	}
	return id, nil
}
