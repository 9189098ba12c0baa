package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// readiness is what a supervisor says when the app is about to start, or cannot.
type readiness struct {
	Error string `json:"error,omitempty"` // "" = it starts
	Kind  string `json:"kind,omitempty"`
}

// Submit starts a supervisor for the app, which outlives us, and returns when the run
// is recorded and its first replica is about to start. A program that does not exist, or
// cannot be executed, is an error and leaves nothing behind.
func (s *Scheduler) Submit(ctx context.Context, plan *runner.Plan) (runner.Submission, error) {
	if len(s.opts.Supervise) == 0 {
		return runner.Submission{}, fmt.Errorf("this program cannot leave a supervisor behind: %w", store.ErrUnsupported)
	}
	if _, err := requestOf(plan); err != nil {
		return runner.Submission{}, err
	}
	l, known, err := s.begin(plan)
	if err != nil {
		return runner.Submission{}, err
	}
	if known && (l.lives() || l.has(startedFile)) {
		return l.submission(), nil
	}
	if err := s.detach(ctx, l, plan); err != nil {
		return runner.Submission{}, err
	}
	return l.submission(), nil
}

func (l launch) has(name string) bool {
	_, err := os.Stat(l.path(name))
	return err == nil
}

func (l launch) submission() runner.Submission {
	var who supervisor
	if ok, err := l.read(supervisorFile, &who); !ok || err != nil {
		return runner.Submission{}
	}
	return runner.Submission{JobID: fmt.Sprint(who.PID), Metadata: map[string]string{"pid": fmt.Sprint(who.PID), "host": who.Host}}
}

// detach starts the supervisor, gives it the plan by a pipe, since the plan may hold
// secrets, and waits for its answer.
func (s *Scheduler) detach(ctx context.Context, l launch, plan *runner.Plan) error {
	alive, err := l.hold()
	if err != nil {
		return errors.Join(stateError(err), l.remove())
	}
	defer func() { _ = alive.Close() }()
	body, err := json.Marshal(plan)
	if err != nil {
		return errors.Join(fmt.Errorf("write plan: %w", err), l.remove())
	}
	ready, child, err := os.Pipe()
	if err != nil {
		return errors.Join(err, l.remove())
	}
	defer func() { _ = ready.Close() }()
	cmd, err := s.command(l, alive, child)
	if err == nil {
		var in io.WriteCloser
		if in, err = cmd.StdinPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				go func() { _ = cmd.Wait() }() // so that it is no zombie while we live, whichever ends first
				_, writeErr := in.Write(append(body, '\n'))
				_ = errors.Join(writeErr, in.Close()) // it says itself what it lacks
			}
		}
	}
	_ = child.Close()
	if err != nil {
		return errors.Join(fmt.Errorf("start supervisor: %w", stateError(err)), l.remove())
	}
	_ = alive.Close()
	return l.answer(ctx, ready)
}

func (s *Scheduler) command(l launch, alive, ready *os.File) (*exec.Cmd, error) {
	log, err := os.OpenFile(l.path(ownLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	own, err := os.OpenFile(log.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	args := append(s.opts.Supervise[1:len(s.opts.Supervise):len(s.opts.Supervise)], l.dir)
	cmd := exec.Command(s.opts.Supervise[0], args...) //nolint:noctx // it outlives us
	cmd.Env, cmd.SysProcAttr = s.opts.Environ, detached()
	cmd.Stdout, cmd.Stderr = own, own
	cmd.ExtraFiles = []*os.File{ready, alive}
	return cmd, nil
}

// answer waits for the supervisor's word.
func (l launch) answer(ctx context.Context, ready *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = ready.Close() })
	defer stop()
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	if ctx.Err() != nil {
		return fmt.Errorf("wait for the supervisor, which goes on: %w", context.Cause(ctx))
	}
	var word readiness
	if err != nil || json.Unmarshal(line, &word) != nil {
		said, _ := os.ReadFile(l.path(ownLog))
		text := strings.TrimSpace(string(said[max(0, len(said)-2000):]))
		return fmt.Errorf("the supervisor ended before the app started; it said: %q: %w", store.Redact(text), store.ErrUnavailable)
	}
	if word.Error == "" {
		return nil
	}
	return &toldError{word.Error, kindOf(word.Kind)}
}

// toldError is an error of the supervisor, of the same kind here.
type toldError struct {
	text string
	kind error
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.kind }

// kinds are the errors that cross from the supervisor to who submits, by name.
func kinds() map[string]error {
	return map[string]error{
		"not found": runner.ErrNotFound, "not executable": runner.ErrNotExecutable, "refused": runner.ErrRefused,
		"absent": store.ErrNotExist, "exists": store.ErrExist, "permission": store.ErrPermission, "invalid": store.ErrInvalid,
		"conflict": store.ErrConflict, "corrupt": store.ErrCorrupt, "unavailable": store.ErrUnavailable,
		"no space": store.ErrNoSpace, "unsupported": store.ErrUnsupported,
	}
}

func kindOf(name string) error { return kinds()[name] }

// kindName names the kind of an error, "" if it has none. A refusal, which is a conflict
// too, comes first.
func kindName(err error) string {
	for _, name := range []string{"not found", "not executable", "refused"} {
		if errors.Is(err, kindOf(name)) {
			return name
		}
	}
	for _, name := range sortedNames(kinds()) {
		if errors.Is(err, kindOf(name)) {
			return name
		}
	}
	return ""
}
