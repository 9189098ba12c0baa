package runner

import (
	"context"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Forsake records how a run ended that was submitted, or to be started again, and will
// not be: nobody is left to say so in an attempt. Where an attempt has begun meanwhile,
// that counts.
func (l *Launcher) Forsake(ctx context.Context, run tracker.RunID, end tracker.AttemptEnd) error {
	if end.Time.IsZero() {
		end.Time = l.now()
	}
	m := &pyjson.Object{}
	setEnd(m, end)
	return l.Tracker.AddMetadata(ctx, run, m)
}
