package runner

import (
	"context"
	"iter"
	"time"
)

// Scheduler starts apps somewhere and knows what became of them. It is what an
// outsider implements; runnertest.RunConformance holds one against what is said
// here. What it can do beyond this are the small interfaces below.
//
// Methods may be called at once from several goroutines. Handles are those that
// Submit was given, or, where a scheduler wants that, name the app by the
// scheduler's own number. An app it does not know (any more) is an error of kind
// store.ErrNotExist; one that does not answer is store.ErrUnavailable. All state
// lives outside the process: a Scheduler opened in another process, later, answers
// the same.
type Scheduler interface {
	// Options are what Prepare understands.
	Options() *OptionSet

	// Prepare sets plan.Request to what Submit would send, from plan.App and
	// plan.Options. It changes nothing else, here or elsewhere. A request that is a
	// fmt.Stringer is shown by that, any other as JSON.
	Prepare(ctx context.Context, plan *Plan) error

	// Submit sends plan.Request, which may have been edited since Prepare. The app's
	// name is plan.Handle, known before, so that submitting is idempotent: a plan whose
	// run id the scheduler knows already, as after a crash between sending and
	// noting, is not sent again; its Submission is returned once more. Submit returns
	// when the app is known to the scheduler and Status finds it.
	Submit(ctx context.Context, plan *Plan) (Submission, error)

	// Status says where an app stands. It is asked often.
	Status(ctx context.Context, h Handle) (AppStatus, error)

	// Cancel asks an app to end and does not wait: SIGTERM, after the grace time
	// SIGKILL, and no retry. To cancel what has ended does nothing.
	Cancel(ctx context.Context, h Handle, opts CancelOptions) error

	// Close releases what the Scheduler holds; apps go on. It may be called twice.
	Close() error
}

// Submission is what a scheduler says of an app that it took.
type Submission struct {
	JobID    string            `json:"job_id,omitempty"`   // its own name for it; "" = none
	Metadata map[string]string `json:"metadata,omitempty"` // recorded as heirloom.scheduler.X; nil = none
}

// CancelOptions change how an app is cancelled.
type CancelOptions struct {
	Grace time.Duration // from SIGTERM to SIGKILL; 0 = as planned
}

// LogReader is a Scheduler that has logs.
type LogReader interface {
	// Logs yields lines in the order in which they were written, as far as that is
	// known, those of one replica, attempt and stream always. Without Tail it ends with
	// what is there now; with it, when the app has ended and all is read. A line is
	// yielded once its end is there, or the app has ended. Regex is left to the caller.
	// What the scheduler cannot do (a stream, times) is an error of kind
	// store.ErrUnsupported before the first line.
	Logs(ctx context.Context, h Handle, query LogQuery) iter.Seq2[LogLine, error]
}

// Lister is a Scheduler that lists apps.
type Lister interface {
	// List yields apps, the youngest first.
	List(ctx context.Context, query ListQuery) iter.Seq2[ListEntry, error]
}

// ListQuery says which apps are wanted.
type ListQuery struct {
	All    bool      // those of other users too, and those that heirloom did not submit, where they can be seen
	States []State   // nil = all
	Since  time.Time // submitted not before; zero = all
	Limit  int       // at most so many; 0 = all
}

// ListEntry is one app of a list.
type ListEntry struct {
	Handle    Handle    `json:"handle"` // with the session that was recorded
	Name      string    `json:"name"`   // App.Name
	State     State     `json:"state"`
	JobID     string    `json:"job_id,omitempty"`
	User      string    `json:"user,omitempty"`
	Submitted time.Time `json:"submitted,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
}

// AppDescriber is a Scheduler that remembers what was submitted.
type AppDescriber interface {
	// Describe tells all that is known of an app.
	Describe(ctx context.Context, h Handle) (Description, error)
}

// Description is all that is known of an app.
type Description struct {
	Handle   Handle            `json:"handle"` // with the session that was recorded
	App      App               `json:"app"`    // as planned, or what could be found out: then roles may lack much
	Status   AppStatus         `json:"status"`
	User     string            `json:"user,omitempty"`
	Dir      string            `json:"dir,omitempty"`      // working directory
	LogDir   string            `json:"log_dir,omitempty"`  // <role>/<replica>/<attempt>/ below it; "" = the logs are not files here
	Options  Config            `json:"options,omitempty"`  // as resolved
	Metadata map[string]string `json:"metadata,omitempty"` // the scheduler's own
}

// Deleter is a Scheduler that can forget an app.
type Deleter interface {
	// Delete cancels an app that runs, waits for its end, and removes all that the
	// scheduler keeps of it; the run's records and outputs stay. Then Status says
	// store.ErrNotExist.
	Delete(ctx context.Context, h Handle, opts CancelOptions) error
}

// Waiter is a Scheduler that need not be asked again and again.
type Waiter interface {
	// Wait returns when the app has settled.
	Wait(ctx context.Context, h Handle) (AppStatus, error)
}

// EarlyValidator is a Scheduler that looks at an app before its workspace is built.
type EarlyValidator interface {
	ValidateEarly(ctx context.Context, plan *Plan) error
}

// Validator is a Scheduler that looks at an app before its request is made.
type Validator interface {
	Validate(ctx context.Context, plan *Plan) error
}

// ResourceDefaulter is a Scheduler that takes roles without a resource. Others
// refuse them.
type ResourceDefaulter interface {
	// DefaultResource is what such a role gets; it may be zero.
	DefaultResource(role *Role) Resource
}

// Backend is an entry of the table of schedulers.
type Backend struct {
	Name string // as in handles
	Help string // one line
	// Open makes the scheduler, when it is first needed.
	Open func(ctx context.Context) (Scheduler, error)
}
