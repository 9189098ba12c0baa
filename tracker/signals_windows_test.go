package tracker_test

import (
	"context"

	"github.com/heirloom-ml/heirloom/tracker"
)

// signalHelpers are none: no process can signal itself here.
func signalHelpers() map[string]func(context.Context, *tracker.FileTracker, []string) error {
	return map[string]func(context.Context, *tracker.FileTracker, []string) error{}
}
