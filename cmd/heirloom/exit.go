package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The exit codes, documented in the help of the root command.
const (
	exitOK          = 0
	exitOther       = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitPermission  = 5
	exitCorrupt     = 6
	exitUnavailable = 7
	exitGate        = 8   // a gate matched
	exitOwnFailure  = 125 // of run: heirloom itself failed, the job did not run or its record is incomplete
	exitNotRunnable = 126
	exitNoCommand   = 127
	exitInterrupted = 130
)

// exitCode is the one place where kinds of error become exit codes.
func exitCode(err error) int {
	var job jobExit
	var rank *rankEnd
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &job):
		return job.code
	case errors.As(err, &rank):
		return rank.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errUsage), errors.Is(err, store.ErrInvalid):
		return exitUsage
	case errors.Is(err, runner.ErrNotExecutable):
		return exitNotRunnable
	case errors.Is(err, runner.ErrNotFound):
		return exitNoCommand
	case errors.Is(err, store.ErrNotExist):
		return exitNotFound
	case errors.Is(err, store.ErrExist), errors.Is(err, store.ErrConflict):
		return exitConflict
	case errors.Is(err, store.ErrPermission):
		return exitPermission
	case errors.Is(err, store.ErrCorrupt):
		return exitCorrupt
	case errors.Is(err, store.ErrUnavailable):
		return exitUnavailable
	case errors.Is(err, errGate):
		return exitGate
	}
	return exitOther
}

// runExitCode is exitCode for the command run, which leaves the small numbers to the job, but for a refusal to start it.
func runExitCode(err error) int {
	var job jobExit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &job):
		return job.code
	case errors.Is(err, runner.ErrRefused):
		return exitConflict
	case errors.Is(err, runner.ErrNotExecutable):
		return exitNotRunnable
	case errors.Is(err, runner.ErrNotFound):
		return exitNoCommand
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitOwnFailure
}

// waitExitCode is exitCode for the command wait, whose small numbers are the job's, but for one that nobody knows and a
// line that cannot be understood.
func waitExitCode(err error) int {
	switch code := exitCode(err); code {
	case exitUsage, exitNotFound, exitInterrupted:
		return code
	}
	return runExitCode(err)
}

// kindName is the word for an exit code in JSON errors.
func kindName(err error) string {
	switch {
	case errors.Is(err, runner.ErrNotFound):
		return "not_found"
	case errors.Is(err, runner.ErrNotExecutable):
		return "not_executable"
	}
	switch exitCode(err) {
	case exitUsage:
		return "usage"
	case exitNotFound:
		return "not_found"
	case exitConflict:
		return "conflict"
	case exitPermission:
		return "permission"
	case exitCorrupt:
		return "corrupt"
	case exitUnavailable:
		return "unavailable"
	case exitGate:
		return "gate"
	case exitInterrupted:
		return "interrupted"
	}
	return "other"
}

// errUsage marks a command line that cannot be understood.
var errUsage = errors.New("usage")

// errGate marks an answer that a pipeline shall stop at.
var errGate = errors.New("gate")

// jobExit carries an exit code that says all out of a command, such as a job's own out of run; there is nothing to print.
type jobExit struct{ code int }

func (e jobExit) Error() string { return fmt.Sprintf("job ended with exit code %d", e.code) }

// advised is an error with the way out of it.
type advised struct {
	err    error
	advice string
}

func (e *advised) Error() string { return e.err.Error() }
func (e *advised) Unwrap() error { return e.err }

// usagef says what is wrong with the command line; the advice is its help.
func usagef(command, format string, args ...any) error {
	return &advised{
		err:    &usageError{text: fmt.Sprintf(format, args...)},
		advice: fmt.Sprintf("see %s --help", command),
	}
}

// invalidf is an argument that cannot be, where the sentence says all.
func invalidf(format string, args ...any) error {
	return &kindError{text: fmt.Sprintf(format, args...), kind: store.ErrInvalid}
}

// kindError is a sentence with a kind.
type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }
func (e *usageError) Unwrap() error { return errUsage }

// advice is the way out that belongs to the error, or to its kind.
func advice(err error) string {
	var own *advised
	var syntax *filter.SyntaxError
	switch {
	case errors.As(err, &own):
		return own.advice
	case errors.As(err, &syntax):
		return "see heirloom runs --help"
	case errors.Is(err, runner.ErrNotFound), errors.Is(err, runner.ErrNotExecutable):
		return ""
	case tracker.IsDeleted(err):
		return "heirloom rm --undo restores it"
	case errors.Is(err, runner.ErrRefused):
		return "see --resume and --force in heirloom run --help"
	case errors.Is(err, store.ErrUnavailable):
		return "check that the endpoint is right and can be reached, then try again"
	case errors.Is(err, store.ErrPermission):
		return "check the permissions and the credentials in use"
	case errors.Is(err, store.ErrNoSpace):
		return "free some space or choose another place with --store"
	}
	return ""
}

// failure is an error as --json prints it.
type failure struct {
	Kind       string   `json:"kind"`
	Message    string   `json:"message"`
	Advice     string   `json:"advice,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
	ExitCode   int      `json:"exit_code"`
}

// report prints an error on stderr: one sentence, or one JSON document.
func (a *app) report(err error, code int) {
	f := failure{Kind: kindName(err), Message: oneLine(store.Redact(inOurWords(err.Error()))), Advice: advice(err), ExitCode: code}
	if f.Kind == "interrupted" {
		f.Message = f.Kind // where it happened to be says nothing
	}
	var ambiguous *tracker.AmbiguousError
	if errors.As(err, &ambiguous) {
		for _, id := range ambiguous.Candidates {
			f.Candidates = append(f.Candidates, string(id))
		}
	}
	if a.wantsJSON() {
		_ = render.Document(a.stderr, map[string]failure{"error": f}, render.JSONL) // there is nowhere left to complain
		return
	}
	text := f.Message
	at, placed := placeOf(err)
	if placed { // it is shown below the sentence
		text = store.Redact(at.reason)
	}
	if f.Advice != "" {
		text += "; " + f.Advice
	}
	fmt.Fprintln(a.stderr, a.paint(red, "heirloom:"), render.Sanitize(strings.TrimSpace(text)))
	if placed && at.offset >= 0 && store.Redact(at.text) == at.text {
		a.point(at)
	}
}

// errorPlace is where in a text of the user's an error is.
type errorPlace struct {
	reason, text string
	offset       int // in bytes; less than 0 = not known
}

// placeOf finds the place of an error in a filter or a statement of SQL, of which the line counts.
func placeOf(err error) (errorPlace, bool) {
	var syntax *filter.SyntaxError
	var statement *index.StatementError
	switch {
	case errors.As(err, &syntax):
		return errorPlace{"filter: " + syntax.Reason, syntax.Filter, syntax.Offset}, true
	case errors.As(err, &statement):
		line, offset := statement.Line()
		return errorPlace{"sql: " + statement.Reason, line, offset}, true
	}
	return errorPlace{}, false
}

// point shows the text with a caret below the place.
func (a *app) point(at errorPlace) {
	line := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(at.text)
	before := render.Sanitize(line[:min(at.offset, len(line))])
	fmt.Fprintf(a.stderr, "  %s\n  %s^\n", render.Sanitize(line), strings.Repeat(" ", utf8.RuneCountInString(before)))
}

// oneLine makes a sentence of errors that were joined, one on each line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }
