package runner

import (
	"context"
	"io"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Why a command did not run; a shell would say 127 and 126. Errors of Run are
// one of these, ErrRefused, of the kinds of package store, or that of the context.
var (
	ErrNotFound      = process.ErrNotFound
	ErrNotExecutable = process.ErrNotExecutable
)

// HashMode is how much is found out about an output.
type HashMode string

// The hash modes. The empty one is HashSHA256.
const (
	HashSHA256 HashMode = "sha256" // size and SHA-256: every byte is read
	HashSize   HashMode = "size"   // size alone
	HashNone   HashMode = "none"   // that it is there
)

// Job says what to run and what is known about it. Args or App is needed, the rest
// may be zero.
type Job struct {
	Args    []string // the command; Args[0] without a slash is looked up in the PATH of Environ
	App     App      // with roles: what is run in place of Args, which is then only recorded, if given
	Dir     string   // working directory; "" = ours
	Environ []string // the surroundings, as "NAME=value"; the run's own variables are added

	Name                string        // for people and for the id; "" = from the command
	Project, Experiment string        // "" = none
	RunID               tracker.RunID // "" = a new one
	Resume              Resume        // what becomes of one that is known; "" = ResumeAllow
	Force               bool          // also while an attempt of it seems to be running
	Fresh               bool          // RunID was made for this job: nothing is recorded of it yet
	Session             string        // of a new id; "" = tracker.DefaultSession
	Parent              tracker.RunID // "" = the run that surrounds us in Environ, if any

	Params         *pyjson.Object // recorded as params.X, nested names joined by dots
	ParamsFromArgs bool           // take params from flags of the command too; they win
	Tags           *pyjson.Object // recorded as tags.X
	// Workspace is what the job starts from, kept in the store already; each is
	// recorded as an input, and what tells how to lay them out as metadata.
	Workspace []WorkspaceDir
	// RoleDir, unless nil, gives the directory in which the replicas of a role start;
	// "" = Dir.
	RoleDir func(role string) string
	// Launch says that the job is one of several processes that are one run, of which
	// each has a Launcher of its own; nil = it is alone. The run's id follows from it
	// unless RunID is given.
	Launch  *Launch
	RerunOf tracker.RunID // the run that this one does once more; "" = none

	Sources []tracker.Source // runs and inputs that it uses; see tracker.NewInput
	Outputs []string         // local paths or store URLs to register where they lie
	Hash    HashMode         // of all outputs

	Stdin          io.Reader // nil = empty; a file is handed on as it is; of several replicas none gets it
	Stdout, Stderr io.Writer // shown here as the job writes; nil = only kept in the logs
	// Prefix is put before each line shown of several replicas; nil = nothing is.
	Prefix func(role string, replica int) string

	// OnReplica, unless nil, is told of each replica that starts (State Running) and
	// ends, by one goroutine, which waits for it. An error becomes a warning.
	OnReplica func(ReplicaExit) error
	// ReplicaEnv, unless nil, gives variables of one replica, which win over its role's.
	ReplicaEnv func(role string, replica int) (map[string]string, error)

	// Cgroups is where each process gets a control group of its own, by which all that it
	// starts is ended; nil = nowhere. With Enforce it holds each replica to the CPUs and
	// memory that its role asks for, and is needed.
	Cgroups *process.Cgroups
	Enforce bool

	// Fsspec is a configuration of TorchX's fsspec tracker, a file or URL, that
	// leads to the launcher's tracker, so that the job gets this one; "" = one is
	// written, which holds no credentials.
	Fsspec string

	Grace time.Duration // from SIGTERM to SIGKILL, and to the end of storing the outputs; 0 = process.DefaultGrace

	// Execute, unless nil, runs the job in place of Args, which are then only what is
	// recorded; environ is the whole environment of the job. Signals and logs are its
	// own business. An error of it without an exit code means 125.
	Execute func(ctx context.Context, started Started, environ []string) (process.Exit, error)
	// Requeued, unless nil, is asked when the attempt has failed: whether the scheduler is
	// about to start the job again, of which this attempt is then not the end.
	Requeued func() bool

	// SyncEvery is how often outputs that are not written in place are stored while
	// the job runs; 0 = 30 s, less than 0 = only when it has ended.
	SyncEvery time.Duration
}

// Started is told when all is recorded and the job is about to start.
type Started struct {
	RunID     tracker.RunID
	Store     string // URL
	OutputDir string // local directory, HEIRLOOM_OUTPUT_DIR of the job
	LogDir    string // local directory of stdout.log, stderr.log, combined.log; of an app, of <role>/<replica>/<attempt>/
	Notices   []string
}

// Result is how a run ended.
type Result struct {
	RunID          tracker.RunID
	State          tracker.State
	ExitCode       int    // as a shell shows it: 128+n after signal n; 126, 127
	Signal         string // "SIGKILL", …; "" = the job exited by itself
	Started, Ended time.Time
	Restarts       int           // attempts after the first of this launch
	Replicas       []ReplicaExit // in the order of roles and numbers, each in its last attempt
	Artifacts      int           // registered
	Warnings       []string      // what went wrong without failing the run; also recorded as heirloom.warnings
}

// NewLauncher returns a launcher that keeps runs in s and records them in t,
// which is rooted in s.
func NewLauncher(s *store.Store, t *tracker.FileTracker) *Launcher {
	return &Launcher{Store: s, Tracker: t}
}

// Launcher runs jobs in the foreground. It may be used for several, also at
// once, though signals then reach all of them.
type Launcher struct {
	Store   *store.Store
	Tracker *tracker.FileTracker
	Version string // of the program, recorded as heirloom.version; "" = not
	TempDir string // for scratch; "" = the system's
	// Adopt makes this process the one to which processes fall that leave the job in
	// every way (on Linux), so that they are ended with it. Programs that run other things
	// beside one job do without.
	Adopt bool
	// Now is the clock; nil = time.Now.
	Now func() time.Time
}
