package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner/slurm"
	"github.com/heirloom-ml/heirloom/tracker"
)

// process is what the command takes from the outside; tests hand in their own.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	args           []string // without the program's own name
	workdir        func() (string, error)
	maxAge         time.Duration // of an index before it is brought up to date; 0 = index.DefaultMaxAge
	lastWord       time.Duration // how long the end of stdin is doubted; 0 = lastWord
}

// app is one invocation: the process, its global flags, and what was opened on the way.
type app struct {
	process
	flags  globalFlags
	warned sync.Map // text of each warning → true

	fsspec     tracker.FsspecRoot // where TorchX's configuration leads, once it was read
	fsspecFile string             // that configuration
	traffic
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, p process) int {
	a := &app{process: p}
	root := newRoot(a)
	root.SetArgs(literalCfg(root, p.args))
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	command, err := root.ExecuteContextC(ctx)
	err = a.explain(ctx, err)
	if closing := a.finish(); err == nil {
		err = closing
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	switch command.Name() {
	case "run", "rerun":
		code = runExitCode(err)
	case "wait":
		code = waitExitCode(err)
	}
	var job jobExit
	if !errors.As(err, &job) {
		a.report(err, code)
	}
	return code
}

// interrupt ends the context of the command on Ctrl-C or SIGTERM; a second one kills. Not so for run and demo, whose
// launcher hands signals on to the job.
func interrupt(c *cobra.Command) {
	switch c.Name() {
	case "run", "rerun", "demo", "ranks", superviseCommand, slurm.BatchCommand, slurm.TaskCommand: // which pass signals on
		return
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	c.SetContext(ctx)
}

// note prints narration on stderr, unless --quiet.
func (a *app) note(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintln(a.stderr, render.Sanitize(fmt.Sprintf(format, args...)))
	}
}

// warn prints a warning on stderr, once, unless --quiet. It may be called from several goroutines.
func (a *app) warn(format string, args ...any) {
	text := oneLine(inOurWords(fmt.Sprintf(format, args...)))
	if _, told := a.warned.LoadOrStore(text, true); !told && !a.flags.quiet {
		fmt.Fprintln(a.stderr, a.paint(yellow, "heirloom: warning:"), render.Sanitize(text))
	}
}

// The colours of narration.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
)

// paint colours text on stderr, where that is a terminal that wants it.
func (a *app) paint(color, text string) string {
	if !a.style(a.stderr).Color {
		return text
	}
	return color + text + "\x1b[0m"
}
