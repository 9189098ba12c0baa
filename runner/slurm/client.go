package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
)

const (
	answerLimit = time.Minute     // for one of Slurm's commands
	pipeLimit   = 2 * time.Second // for what a command started, after its end
	mostAnswer  = 64 << 20        // bytes of one answer
)

// client calls Slurm's commands.
type client struct {
	environ []string      // theirs; PATH tells where they are
	limit   time.Duration // for each
}

func newClient(environ []string, limit time.Duration) *client {
	if limit == 0 {
		limit = answerLimit
	}
	kept := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return shapesAnswers(name)
	})
	return &client{environ: kept, limit: limit}
}

// shapesAnswers says whether a variable changes what Slurm's commands print.
func shapesAnswers(name string) bool {
	for _, prefix := range []string{"SQUEUE_", "SACCT_", "SCONTROL_", "LC_", "LANG"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "TZ" || name == "SLURM_TIME_FORMAT" || name == "SLURM_BITSTR_LEN"
}

// run calls a command that asks, and gives what it prints. Times are in UTC.
func (c *client) run(ctx context.Context, name string, args ...string) (string, error) {
	return c.call(ctx, append(slices.Clone(c.environ), "LC_ALL=C", "TZ=UTC"), name, args...)
}

// call calls a command with this environment.
func (c *client) call(ctx context.Context, environ []string, name string, args ...string) (string, error) {
	path, err := (&process.Spec{Args: []string{name}, Env: c.environ}).Find()
	if err != nil {
		return "", &store.Error{Op: "call " + name, Kind: store.ErrUnavailable,
			Err: fmt.Errorf("%s cannot be called here: %w; run this where Slurm's commands are in PATH, on a login node as a rule", name, err)}
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Env, cmd.WaitDelay = environ, pipeLimit
	var out, errs head
	out.most, errs.most = mostAnswer, 64<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return out.String(), &store.Error{Op: "call " + name, Kind: store.ErrUnavailable,
			Err: fmt.Errorf("%s gave no answer in %v: is the controller up? scontrol ping tells", name, c.limit)}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return out.String(), refusal(name, err, errs.String()+out.String())
	}
	return out.String(), nil
}

// refusedError is a command that ended with an error, with what it said.
type refusedError struct {
	name, text string
	kind, err  error
}

func (e *refusedError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("%s: %v", e.name, e.err)
	}
	return fmt.Sprintf("%s: %s", e.name, e.text)
}

func (e *refusedError) Unwrap() []error { return []error{e.kind, e.err} }

// refusal finds the kind of an error by the words that Slurm has used since before
// 20.11; what is in none of them is ErrInvalid, since Slurm was asked and said no.
func refusal(name string, err error, said string) error {
	text := strings.TrimSpace(store.Redact(said))
	if len(text) > 500 {
		text = text[:500] + "…"
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	kind := store.ErrInvalid
	lower := strings.ToLower(said)
	for _, k := range []struct {
		word string
		kind error
	}{
		{"invalid job id", store.ErrNotExist}, {"unable to contact", store.ErrUnavailable}, {"connection refused", store.ErrUnavailable},
		{"timed out", store.ErrUnavailable}, {"socket", store.ErrUnavailable}, {"connection failure", store.ErrUnavailable},
		{"communication", store.ErrUnavailable}, {"configuration source", store.ErrUnavailable}, {"munge", store.ErrUnavailable},
		{"temporarily", store.ErrUnavailable}, {"permission denied", store.ErrPermission}, {"invalid account", store.ErrPermission},
		{"not permitted", store.ErrPermission}, {"no space left", store.ErrNoSpace},
	} {
		if strings.Contains(lower, k.word) {
			kind = k.kind
			break
		}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 0 {
		kind = store.ErrUnavailable // it was killed, or could not run
	}
	return &refusedError{name: name, text: text, kind: kind, err: err}
}

// unknownJob says whether an error is that Slurm knows no such job (any more).
func unknownJob(err error) bool {
	var refused *refusedError
	return errors.As(err, &refused) && errors.Is(refused.kind, store.ErrNotExist)
}

// head keeps the first bytes of what is written.
type head struct {
	buf  bytes.Buffer
	most int
}

func (h *head) String() string { return h.buf.String() }

func (h *head) Write(p []byte) (int, error) {
	if room := h.most - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
