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
	return l.addAnnounced(ctx, run, m)
}

// addAnnounced adds metadata where no attempt begins or ends, which would announce it.
func (l *Launcher) addAnnounced(ctx context.Context, run tracker.RunID, m *pyjson.Object) error {
	if err := l.Tracker.AddMetadata(ctx, run, m); err != nil {
		return err
	}
	return l.Tracker.Announce(ctx, run)
}
