package runner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// event is a call of a method of Runner, for the handler of events.
type event struct {
	runner    *Runner
	api       string
	scheduler string
	component string // "" = none
	handle    Handle
	app       *App // nil = not known
	config    Config
	began     time.Time
}

func (r *Runner) event(api string) *event {
	return &event{runner: r, api: api, began: r.opts.Now()}
}

func (r *Runner) eventOf(api string, h Handle) *event {
	e := r.event(api)
	e.scheduler, e.handle = h.Scheduler, h
	return e
}

// of notes what is known of a plan.
func (e *event) of(p *Plan) {
	if p != nil {
		e.scheduler, e.handle, e.app, e.config = p.Scheduler, p.Handle, &p.App, p.Options
	}
}

// end sends the event. Its attributes are those of TorchX's TorchxEvent that say
// something here.
func (e *event) end(ctx context.Context, err error) {
	h := e.runner.opts.Events
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelError
	}
	if h == nil || !h.Enabled(ctx, level) {
		return
	}
	now := e.runner.opts.Now()
	record := slog.NewRecord(now, level, "runner "+e.api, 0)
	record.AddAttrs(slog.String("session", e.runner.session), slog.String("api", e.api))
	if e.scheduler != "" {
		record.AddAttrs(slog.String("scheduler", e.scheduler))
	}
	if e.component != "" {
		record.AddAttrs(slog.String("component", e.component))
	}
	if e.handle != (Handle{}) {
		record.AddAttrs(slog.String("app_id", e.handle.App), slog.String("handle", e.handle.String()))
	}
	if e.app != nil {
		record.AddAttrs(slog.String("app", e.app.Name))
		if len(e.app.Roles) > 0 {
			record.AddAttrs(slog.String("app_image", e.app.Roles[0].Image), slog.Int("replicas", e.app.Replicas()))
			if w := e.app.Roles[0].Workspace; len(w) > 0 {
				record.AddAttrs(slog.String("workspace", w[0].From))
			}
		}
		if len(e.app.Metadata) > 0 {
			record.AddAttrs(slog.Any("app_metadata", redactEnv(e.app.Metadata)))
		}
	}
	if len(e.config) > 0 {
		record.AddAttrs(slog.Any("runcfg", e.config.Redacted()))
	}
	record.AddAttrs(slog.Time("start", e.began.UTC()), slog.Int64("wall_time_usec", now.Sub(e.began).Microseconds()))
	if err != nil {
		record.AddAttrs(slog.String("error_kind", kindName(err)), slog.String("error", store.Redact(err.Error())))
	}
	_ = h.Handle(ctx, record) // what cannot be told does not undo what was done
}

// kindName names the kind of an error, as in "not exist"; "other" if it has none.
func kindName(err error) string {
	for _, k := range []struct {
		kind error
		name string
	}{
		{context.Canceled, "canceled"}, {context.DeadlineExceeded, "deadline exceeded"},
		{store.ErrNotExist, "not exist"}, {store.ErrExist, "exist"}, {store.ErrPermission, "permission"},
		{store.ErrInvalid, "invalid"}, {store.ErrConflict, "conflict"}, {store.ErrCorrupt, "corrupt"},
		{store.ErrUnavailable, "unavailable"}, {store.ErrNoSpace, "no space"}, {store.ErrUnsupported, "unsupported"},
	} {
		if errors.Is(err, k.kind) {
			return k.name
		}
	}
	return "other"
}
