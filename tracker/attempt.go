package tracker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	startName  = "start"
	endName    = "end"
	beatName   = "beat"
	maxAttempt = 999_999
)

// Attempt is one try to carry out a run.
type Attempt struct {
	Number int // from 1
	Start  AttemptStart
	End    *AttemptEnd // nil while it runs, or if it vanished
	Beat   time.Time   // of the last sign of life, zero if there was none
}

// AttemptStart is what is known when an attempt begins. Zero fields are left out
// of the record.
type AttemptStart struct {
	Time      time.Time // zero = now
	Command   []string  // redacted before it is written
	Environ   []string  // "NAME=value"; only what store.RedactEnv lets through is written
	Dir       string    // working directory
	Host      string
	User      string
	PID       int
	BootID    string    // of the host, so that a process id can be believed
	Scheduler *Metadata // the scheduler's own names and numbers
	// LostAfter is how long the attempt is believed to live after its last sign of
	// life; 0 = [LostAfter], less than 0 = for ever, since nobody attends it.
	LostAfter time.Duration
}

// AttemptEnd is how an attempt ended.
type AttemptEnd struct {
	Time     time.Time // zero = now
	State    State     // Succeeded, Failed or Cancelled
	ExitCode *int      // nil if the process did not exit by itself
	Signal   string    // "SIGKILL", or ""
	// Requeued says that the scheduler is about to start the run again. Until it does the
	// run is Pending, or what the metadata say of its end, should nothing come of it.
	Requeued bool
}

// StartAttempt claims the next free number and returns it. Of several processes
// that ask at once each gets its own.
func (t *FileTracker) StartAttempt(ctx context.Context, run RunID, start AttemptStart) (int, error) {
	last, err := t.lastAttempt(ctx, run)
	for n := last + 1; err == nil && n <= maxAttempt; n++ {
		err = t.claimAttempt(ctx, run, n, &start)
		if err == nil {
			return n, nil
		}
		if errors.Is(err, store.ErrExist) {
			err = nil
		}
	}
	if err == nil {
		err = fmt.Errorf("there are %d attempts already: %w", maxAttempt, store.ErrInvalid)
	}
	return 0, fmt.Errorf("start attempt of %s: %w", printable(string(run)), err)
}

// ClaimAttempt is StartAttempt for who has looked at the attempts before and
// means to be number n: of several processes that claim one number the first
// gets it, for the others the error is store.ErrExist.
func (t *FileTracker) ClaimAttempt(ctx context.Context, run RunID, n int, start AttemptStart) error {
	if err := t.claimAttempt(ctx, run, n, &start); err != nil {
		return fmt.Errorf("start attempt %d of %s: %w", n, printable(string(run)), err)
	}
	return nil
}

func (t *FileTracker) claimAttempt(ctx context.Context, run RunID, n int, start *AttemptStart) error {
	if err := checkAttempt(n); err != nil {
		return err
	}
	if err := t.mayWrite(ctx, run); err != nil {
		return err
	}
	if start.Time.IsZero() {
		start.Time = t.opts.Now()
	}
	body, err := start.body(t.opts.Writer)
	if err != nil {
		return err
	}
	if err := t.s.Create(ctx, attemptKey(run, n, startName), body); err != nil {
		return err
	}
	t.announce(ctx, run)
	return nil
}

func (t *FileTracker) lastAttempt(ctx context.Context, run RunID) (int, error) {
	if err := t.mayWrite(ctx, run); err != nil {
		return 0, err
	}
	last := 0
	for e, err := range t.s.ListDir(ctx, run.dir().Join(heirloomDir, attemptsDir)) {
		if err != nil {
			return 0, err
		}
		if n, ok := attemptNumber(e.Key.Base()); ok {
			last = max(last, n)
		}
		if e.Key.Base() == deletedDir {
			return 0, &DeletedError{Run: run}
		}
	}
	return last, nil
}

// Attempts lists the attempts of a run in the order of their numbers. A run
// without any has none; see Exists. One that was deleted is a *DeletedError.
func (t *FileTracker) Attempts(ctx context.Context, run RunID) ([]Attempt, error) {
	l, err := t.list(ctx, run, heirloomDir+"/"+attemptsDir)
	if err == nil && l.deleted {
		err = &DeletedError{Run: run}
	}
	if err != nil {
		return nil, readError(run, err)
	}
	b, err := t.read(ctx, l.attemptKeys())
	if err != nil {
		return nil, readError(run, err)
	}
	list := l.foldAttempts(b)
	t.warnAll(l.sortedWarnings())
	return list, nil
}

// Exists says whether anything of a run is kept. It makes one request.
func (t *FileTracker) Exists(ctx context.Context, run RunID) (bool, error) {
	err := t.mayRead(ctx, run)
	if err == nil {
		var found bool
		if found, err = t.exists(ctx, run); err == nil {
			return found, nil
		}
	}
	return false, readError(run, err)
}

// EndAttempt records how attempt n ended. It can be said once: the second time
// is store.ErrExist.
func (t *FileTracker) EndAttempt(ctx context.Context, run RunID, n int, end AttemptEnd) error {
	if end.Time.IsZero() {
		end.Time = t.opts.Now()
	}
	err := checkAttempt(n)
	if err == nil && !end.State.Terminal() {
		err = fmt.Errorf("%q is no state to end in: %w", end.State, store.ErrInvalid)
	}
	var body []byte
	if err == nil {
		body, err = end.body()
	}
	if err == nil {
		err = t.mayWrite(ctx, run)
	}
	if err == nil {
		err = t.s.Create(ctx, attemptKey(run, n, endName), body)
	}
	if err != nil {
		return fmt.Errorf("end attempt %d of %s: %w", n, printable(string(run)), err)
	}
	t.announce(ctx, run)
	return nil
}

// Beat records that attempt n is alive now. Call it every BeatEvery, not more
// often: each call replaces one object.
func (t *FileTracker) Beat(ctx context.Context, run RunID, n int) error {
	err := checkAttempt(n)
	if err == nil {
		err = t.mayWrite(ctx, run)
	}
	var body []byte
	if err == nil {
		body, err = pyjson.Marshal(pyjson.NewObject(pyjson.Member{Key: "time", Value: formatTime(t.opts.Now())}))
	}
	if err == nil {
		err = t.s.Put(ctx, attemptKey(run, n, beatName), body)
	}
	if err != nil {
		return fmt.Errorf("beat of attempt %d of %s: %w", n, printable(string(run)), err)
	}
	return nil
}

func checkAttempt(n int) error {
	if n < 1 || n > maxAttempt {
		return fmt.Errorf("attempts are numbered from 1 to %d: %w", maxAttempt, store.ErrInvalid)
	}
	return nil
}

func attemptKey(run RunID, n int, name string) store.Key {
	return run.dir().Join(heirloomDir, attemptsDir, fmt.Sprintf("%06d", n), name)
}

func attemptNumber(elem string) (int, bool) {
	n, err := strconv.Atoi(elem)
	return n, err == nil && len(elem) == 6 && checkAttempt(n) == nil
}

func (a AttemptStart) body(writer string) ([]byte, error) {
	o := pyjson.NewObject(pyjson.Member{Key: "time", Value: formatTime(a.Time)})
	if len(a.Command) > 0 {
		command := make([]any, len(a.Command))
		for i, arg := range store.RedactArgs(a.Command) {
			command[i] = strings.ToValidUTF8(arg, "\ufffd")
		}
		o.Set("command", command)
	}
	for _, m := range []struct{ key, value string }{
		{"dir", a.Dir}, {"host", a.Host}, {"user", a.User}, {"boot_id", a.BootID}, {"writer", writer},
	} {
		if m.value != "" {
			o.Set(m.key, strings.ToValidUTF8(m.value, "\ufffd"))
		}
	}
	if a.PID != 0 {
		o.Set("pid", a.PID)
	}
	if environ := recordedEnviron(a.Environ); environ.Len() > 0 {
		o.Set("environ", environ)
	}
	if a.Scheduler.Len() > 0 {
		o.Set("scheduler", a.Scheduler)
	}
	switch {
	case a.LostAfter < 0:
		o.Set("lost_after_seconds", nil)
	case a.LostAfter > 0:
		o.Set("lost_after_seconds", a.LostAfter.Seconds())
	}
	return pyjson.Marshal(o)
}

func (a *AttemptStart) read(body []byte) error {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return err
	}
	if a.Time = parseTime(o.Text("time")); a.Time.IsZero() {
		return errors.New(`"time" is not a time`)
	}
	a.Dir, a.Host, a.User, a.BootID = o.Text("dir"), o.Text("host"), o.Text("user"), o.Text("boot_id")
	command, _ := o.Get("command")
	list, _ := command.([]any)
	for _, v := range list {
		arg, _ := v.(string)
		a.Command = append(a.Command, arg)
	}
	pid, _ := o.Get("pid")
	n, _ := pid.(int64)
	a.PID = int(n)
	environ, _ := o.Get("environ")
	a.Environ = environList(environ)
	scheduler, _ := o.Get("scheduler")
	a.Scheduler, _ = scheduler.(*Metadata)
	if lost, ok := o.Get("lost_after_seconds"); ok {
		a.LostAfter = lostAfter(lost)
	}
	return nil
}

// lostAfter reads a number of seconds; null is for ever.
func lostAfter(v any) time.Duration {
	switch v := v.(type) {
	case nil:
		return -1
	case int64:
		return time.Duration(v) * time.Second
	case float64:
		return time.Duration(v * float64(time.Second))
	}
	return 0
}

func (e AttemptEnd) body() ([]byte, error) {
	o := pyjson.NewObject(
		pyjson.Member{Key: "time", Value: formatTime(e.Time)},
		pyjson.Member{Key: "state", Value: string(e.State)})
	if e.ExitCode != nil {
		o.Set("exit_code", *e.ExitCode)
	}
	if e.Signal != "" {
		o.Set("signal", e.Signal)
	}
	if e.Requeued {
		o.Set("requeued", true)
	}
	return pyjson.Marshal(o)
}

// read leaves the state Unknown if the record cannot be believed: that the
// attempt ended is certain even then.
func (e *AttemptEnd) read(body []byte) error {
	e.State = Unknown
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return err
	}
	state := State(o.Text("state"))
	if !state.Terminal() {
		return errors.New(`"state" is no state to end in`)
	}
	e.State, e.Time, e.Signal = state, parseTime(o.Text("time")), o.Text("signal")
	code, _ := o.Get("exit_code")
	if n, ok := code.(int64); ok {
		exit := int(n)
		e.ExitCode = &exit
	}
	requeued, _ := o.Get("requeued")
	e.Requeued = requeued == true
	return nil
}
