package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Plan is a run before it is submitted: all that is settled. It travels as JSON to
// the side that starts the replicas. It may hold secrets (in Env, Args), so it is
// written to files of mode 0600 and shown only as Redacted.
type Plan struct {
	Version int           `json:"version"` // PlanVersion
	RunID   tracker.RunID `json:"run_id"`
	Handle  Handle        `json:"handle"` // of what is submitted; it is RunID, unless that was given in another form
	// Launch is random. Plans with one Launch are one submission; a plan of a run that
	// has another is a further attempt to carry it out.
	Launch    string    `json:"launch"`
	Fresh     bool      `json:"fresh,omitempty"` // RunID was made for this plan: nothing is recorded of it yet
	Scheduler string    `json:"scheduler"`
	Session   string    `json:"session"`
	App       App       `json:"app"`     // macros as written: the replica's side applies them
	Options   Config    `json:"options"` // resolved: every option has a value or nil
	Dir       string    `json:"dir,omitempty"`
	Planned   time.Time `json:"planned"`
	Recording Recording `json:"recording"`
	// Request is what the scheduler is sent; its type is the scheduler's. It may be
	// edited before Submit. Read back from JSON it is a json.RawMessage.
	Request any `json:"request,omitempty"`
}

// PlanVersion is of plans as JSON. A reader refuses a higher one.
const PlanVersion = 1

// Recording is what is recorded of a run beside its App, and how. All may be
// zero. The fields are those of Job.
type Recording struct {
	Store   string `json:"store,omitempty"`   // URL, absolute; "" = nothing is recorded
	Tracker string `json:"tracker,omitempty"` // URL of a bare tracker root; "" = that of Store

	Name       string `json:"name,omitempty"` // "" = App.Name
	Project    string `json:"project,omitempty"`
	Experiment string `json:"experiment,omitempty"`

	Parent         tracker.RunID    `json:"parent,omitempty"`
	Resume         Resume           `json:"resume,omitempty"`
	Force          bool             `json:"force,omitempty"`
	Params         *pyjson.Object   `json:"params,omitempty"`
	ParamsFromArgs bool             `json:"params_from_args,omitempty"`
	Tags           *pyjson.Object   `json:"tags,omitempty"`
	Sources        []tracker.Source `json:"sources,omitempty"`
	Outputs        []string         `json:"outputs,omitempty"`
	Hash           HashMode         `json:"hash,omitempty"`
	Fsspec         string           `json:"fsspec,omitempty"`
	Grace          time.Duration    `json:"grace_ns,omitempty"`
	SyncEvery      time.Duration    `json:"sync_every_ns,omitempty"`
}

// ReadPlan reads a plan's JSON. The error has kind store.ErrCorrupt, or
// store.ErrUnsupported for one of a later version.
func ReadPlan(body []byte) (*Plan, error) {
	var request struct{ Request json.RawMessage }
	var p Plan
	err := json.Unmarshal(body, &p)
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read plan: %w: %w", err, store.ErrCorrupt)
	case p.Version > PlanVersion:
		return nil, fmt.Errorf("read plan: it is of version %d, and this program knows %d: %w", p.Version, PlanVersion, store.ErrUnsupported)
	case p.Version < 1:
		return nil, fmt.Errorf("read plan: it has no version: %w", store.ErrCorrupt)
	}
	p.Request = nil
	if len(request.Request) > 0 {
		p.Request = request.Request
	}
	return &p, nil
}

// Redacted is a copy for people, without what is or may be a secret; the request is
// left out, since only its scheduler knows it.
func (p *Plan) Redacted() *Plan {
	shown := *p
	shown.Request = nil
	shown.App = p.App.Redacted()
	shown.Options = p.Options.Redacted()
	shown.Recording.Params, shown.Recording.Tags = redacted(p.Recording.Params), redacted(p.Recording.Tags)
	shown.Recording.Store, shown.Recording.Tracker = store.RedactURL(p.Recording.Store), store.RedactURL(p.Recording.Tracker)
	return &shown
}

// Redacted is a copy for people, without what is or may be a secret.
func (a App) Redacted() App {
	a = a.Clone()
	a.Metadata = redactEnv(a.Metadata)
	for i := range a.Roles {
		r := &a.Roles[i]
		r.Entrypoint, r.Args, r.Env = store.Redact(r.Entrypoint), store.RedactArgs(r.Args), redactEnv(r.Env)
		r.Image = store.Redact(r.Image)
		if r.Metadata != nil {
			r.Metadata = mapStrings(r.Metadata, store.Redact).(*tracker.Metadata)
		}
	}
	return a
}
