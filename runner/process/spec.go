package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// DefaultGrace is how long a job may take to end after SIGTERM.
const DefaultGrace = 30 * time.Second

// Why a process could not be started; a shell would say 127 and 126.
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("command cannot be executed")
)

// Spec says what to run. Args and LogDir are needed, the rest may be zero.
type Spec struct {
	Args []string // Args[0] without a slash is looked up in the PATH of Env
	Dir  string   // working directory; "" = ours
	Env  []string // all of the environment; PYTHONUNBUFFERED=x is added when unset

	Stdin          io.Reader // nil = empty; a file is handed on as it is
	Stdout, Stderr io.Writer // shown here live, after the logs have it; nil = nowhere

	LogDir  string        // existing directory for stdout.log, stderr.log, combined.log
	Mark    string        // "NAME=value", unique to the job and part of Env; "" = the session alone tells its processes
	Grace   time.Duration // from SIGTERM to SIGKILL; 0 = DefaultGrace
	Signals *Signals      // passed on while we wait; nil = none
	// EndOnInterrupt says that SIGINT asks the job to end, as Ctrl-C does: one that still runs
	// after Grace gets SIGTERM, and Grace once more; a second SIGINT kills all of it. Else
	// SIGINT is passed on and no more.
	EndOnInterrupt bool

	Limits  Limits   // need Cgroups
	Cgroups *Cgroups // where the process gets a group of its own; nil = nowhere. Without Limits it does without where none can be made
	// Guard is shared with others of one job; nil = one of its own. It is the caller's to
	// close, after Wait.
	Guard *Guard
	// Orphans takes in what leaves the job in every way; nil = nobody.
	Orphans *Orphans
}

// Exit is how a process ended.
type Exit struct {
	Code           int       // as a shell shows it: 128+n after signal n
	Signal         string    // "SIGKILL", …; "" = it exited by itself
	Started, Ended time.Time // Ended: when the process itself ended, not what it left behind

	Stop      string    // "SIGTERM", … or "cancel": what we last asked of it; "" = nothing
	Stopped   time.Time // when it was told to end; zero = it was not
	Killed    bool      // it did not end in the grace time
	Left      int       // processes it left behind, which we ended
	Survivors []int     // processes that even SIGKILL did not end

	OutOfMemory bool // the kernel killed some of it at its limit of memory

	LostBytes int64 // output that could not be kept in a log
	LogErr    error // why; nil = nothing lost
}

// Exited says whether the process ended by itself, so that Code is its own.
func (e Exit) Exited() bool { return e.Signal == "" }

func (s *Spec) check() error {
	if len(s.Args) == 0 || s.Args[0] == "" {
		return fmt.Errorf("%w: no command", ErrNotFound)
	}
	if s.Dir == "" {
		return nil
	}
	info, err := os.Stat(s.Dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s is not a directory", s.Dir)
	}
	return nil
}

func (s *Spec) environ() []string {
	if lookup(s.Env, "PYTHONUNBUFFERED") != "" {
		return s.Env
	}
	return append(slices.Clone(s.Env), "PYTHONUNBUFFERED=x")
}

// lookup gives the value of the last entry of that name, as exec sees it.
func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}
