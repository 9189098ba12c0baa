package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// rankFlags are what ranks is told by dist.spmd.
type rankFlags struct {
	nodes, node, processes, port int
	id, hostFrom                 string
	grace                        time.Duration
}

// newRanks is what dist.spmd starts on each node.
func newRanks(a *app) *cobra.Command {
	var f rankFlags
	c := &cobra.Command{
		Use:    "ranks [flags] -- COMMAND [ARG...]",
		Short:  "start the processes of one node, with torchrun's environment",
		Hidden: true,
		Args:   atLeastOne("COMMAND"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.nodes < 1 || f.processes < 1 || f.node < 0 || f.node >= f.nodes {
				return usagef(c.CommandPath(), "node %d of %d with %d processes cannot be", f.node, f.nodes, f.processes)
			}
			return a.runRanks(c.Context(), args, f)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.IntVar(&f.nodes, "nodes", 1, "`N` nodes in all")
	flags.IntVar(&f.node, "node", 0, "`N`, the number of this one, from 0")
	flags.IntVar(&f.processes, "processes", 1, "`N` processes on each")
	flags.IntVar(&f.port, "port", 29500, "`N` of the port on the first node; 0 = any that is free, for one node")
	flags.StringVar(&f.id, "id", "", "`ID` of the job")
	flags.StringVar(&f.hostFrom, "host-from", "", "`NAME` of the variable that holds the first node's host; empty = localhost")
	f.grace = 10 * time.Second
	ageFlag(flags, &f.grace, "grace", "`TIME` from SIGTERM to SIGKILL for the others when one fails")
	return c
}

// rankEnvironment is that of torchrun for one process, local from 0.
func (f *rankFlags) environment(environ []string, host string, local int) []string {
	rank, world := f.node*f.processes+local, f.nodes*f.processes
	set := []string{
		"MASTER_ADDR=" + host, "MASTER_PORT=" + strconv.Itoa(f.port),
		"RANK=" + strconv.Itoa(rank), "LOCAL_RANK=" + strconv.Itoa(local), "GROUP_RANK=" + strconv.Itoa(f.node), "ROLE_RANK=" + strconv.Itoa(rank),
		"WORLD_SIZE=" + strconv.Itoa(world), "LOCAL_WORLD_SIZE=" + strconv.Itoa(f.processes),
		"GROUP_WORLD_SIZE=" + strconv.Itoa(f.nodes), "ROLE_WORLD_SIZE=" + strconv.Itoa(world), "ROLE_NAME=default",
		"TORCHELASTIC_RUN_ID=" + f.id, "TORCHELASTIC_RESTART_COUNT=0", "TORCHELASTIC_MAX_RESTARTS=0", "TORCHELASTIC_USE_AGENT_STORE=False",
	}
	if f.processes > 1 && lastOf(environ, "OMP_NUM_THREADS") == "" {
		set = append(set, "OMP_NUM_THREADS=1")
	}
	return append(append([]string{}, environ...), set...)
}

func lastOf(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if n, v, ok := strings.Cut(entry, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// runRanks starts the processes, ends them all when one fails, and exits as the first that failed did.
func (a *app) runRanks(ctx context.Context, args []string, f rankFlags) error {
	host := "localhost"
	if f.hostFrom != "" && a.getenv(f.hostFrom) != "" {
		host = a.getenv(f.hostFrom)
	}
	if f.port == 0 {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		f.port = port
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var all sync.WaitGroup
	var shown sync.Mutex
	for local := range f.processes {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = f.environment(a.environ, host, local)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = f.grace
		rank := f.node*f.processes + local
		out, errs := a.rankOutput(&shown, f.processes, rank)
		cmd.Stdout, cmd.Stderr = out, errs
		all.Go(func() {
			err := cmd.Run()
			out.end()
			errs.end()
			if err != nil {
				fail(&rankError{rank: rank, err: err})
			}
		})
	}
	all.Wait()
	return rankOutcome(ctx)
}

// rankOutcome is how the first process to fail failed.
func rankOutcome(ctx context.Context) error {
	var failed *rankError
	if !errors.As(context.Cause(ctx), &failed) {
		return ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(failed.err, exec.ErrNotFound), errors.Is(failed.err, os.ErrNotExist):
		return &rankEnd{failed, exitNoCommand}
	case errors.Is(failed.err, os.ErrPermission):
		return &rankEnd{failed, exitNotRunnable}
	case !errors.As(failed.err, &exit):
		return failed
	}
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return &rankEnd{failed, code}
}

// rankError is the end of a process that failed.
type rankError struct {
	rank int
	err  error
}

func (e *rankError) Error() string { return fmt.Sprintf("rank %d: %v", e.rank, e.err) }
func (e *rankError) Unwrap() error { return e.err }

// rankEnd is a failure with the exit code that it means. It is told, unlike that of run's job.
type rankEnd struct {
	*rankError
	code int
}

// freePort is a port on which nobody listens at the moment.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// rankOutput are the outputs of one process: with several, by whole lines, each with its rank before it, as torchrun --tee does.
func (a *app) rankOutput(shown *sync.Mutex, processes, rank int) (out, errs *rankWriter) {
	prefix := ""
	if processes > 1 {
		prefix = fmt.Sprintf("[%d]:", rank)
	}
	return &rankWriter{to: a.stdout, mu: shown, prefix: prefix}, &rankWriter{to: a.stderr, mu: shown, prefix: prefix}
}

// rankWriter writes whole lines.
type rankWriter struct {
	to      io.Writer
	mu      *sync.Mutex // held for a line
	prefix  string      // "" = bytes go on as they come
	partial []byte
}

// Write is part of io.Writer.
func (w *rankWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prefix == "" {
		return w.to.Write(p)
	}
	w.partial = append(w.partial, p...)
	for {
		n, line, err := bufio.ScanLines(w.partial, false)
		if n == 0 || err != nil {
			return len(p), err
		}
		if _, err := fmt.Fprintf(w.to, "%s%s\n", w.prefix, line); err != nil {
			return 0, err
		}
		w.partial = w.partial[n:]
	}
}

// end writes a line that was not ended.
func (w *rankWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partial) > 0 {
		fmt.Fprintf(w.to, "%s%s\n", w.prefix, w.partial)
		w.partial = nil
	}
}
