//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLogs(t *testing.T) {
	spec := shell(t, `printf abc; sleep 0.05; echo E1 >&2; sleep 0.05; printf 'def\n'; sleep 0.05; printf 'no end' >&2`)
	var out, errs bytes.Buffer
	spec.Stdout, spec.Stderr = &out, &errs
	run(t, spec)
	for name, want := range map[string]string{
		stdoutLog: "abcdef\n", stderrLog: "E1\nno end", combinedLog: "E1\nabcdef\nno end\n",
	} {
		if got := readLog(t, spec, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if out.String() != "abcdef\n" || errs.String() != "E1\nno end" {
		t.Errorf("shown %q and %q", &out, &errs)
	}
}

func TestLogsAreAppendedTo(t *testing.T) {
	spec := shell(t, "echo again")
	var out bytes.Buffer
	spec.Stdout = &out
	if err := os.WriteFile(filepath.Join(spec.LogDir, stdoutLog), []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "before\nagain\n" || out.String() != "again\n" {
		t.Errorf("log %q, shown %q", got, &out)
	}
}

// Two writers at full speed: each line is whole in combined.log, none is lost, and
// each stream keeps its order.
func TestCombinedHoldsWholeLines(t *testing.T) {
	const lines = 20000
	spec := shell(t, fmt.Sprintf(`seq -f 'out %%08.0f' %d & seq -f 'err %%08.0f' %d >&2; wait`, lines, lines))
	run(t, spec)
	next := map[string]int{"out": 1, "err": 1}
	form := regexp.MustCompile(`^(out|err) (\d{8})$`)
	for line := range strings.Lines(readLog(t, spec, combinedLog)) {
		m := form.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || m[2] != fmt.Sprintf("%08d", next[m[1]]) {
			t.Fatalf("line %q where %v is next", line, next)
		}
		next[m[1]]++
	}
	if next["out"] != lines+1 || next["err"] != lines+1 {
		t.Errorf("got up to %v", next)
	}
}

func TestOverlongLineIsBroken(t *testing.T) {
	spec := shell(t, fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x`, 3*maxLine))
	run(t, spec)
	if n := len(readLog(t, spec, stdoutLog)); n != 3*maxLine {
		t.Errorf("stdout.log holds %d bytes", n)
	}
	for line := range strings.Lines(readLog(t, spec, combinedLog)) {
		if len(line) > maxLine+64<<10 {
			t.Errorf("combined.log has a line of %d bytes", len(line))
		}
	}
}

// stalled blocks every write until it is let go.
type stalled struct {
	bytes.Buffer
	held chan struct{}
}

func (s *stalled) Write(b []byte) (int, error) {
	<-s.held
	return s.Buffer.Write(b)
}

func TestStalledConsoleCostsNothing(t *testing.T) {
	const size = 8 << 20
	spec := shell(t, fmt.Sprintf(`head -c %d /dev/zero`, size))
	console := &stalled{held: make(chan struct{})}
	spec.Stdout = console
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 || exit.LostBytes != 0 {
		t.Fatalf("got %+v, %v", exit, err)
	}
	if n := len(readLog(t, spec, stdoutLog)); n != size {
		t.Errorf("the log holds %d bytes", n)
	}
	if n := p.Drain(20 * time.Millisecond); n != size {
		t.Errorf("%d bytes said not to be shown", n)
	}
	close(console.held)
	<-p.logs.out.view.done
}

func TestSlowConsoleGetsAll(t *testing.T) {
	const size = 8 << 20
	spec := shell(t, fmt.Sprintf(`head -c %d /dev/zero`, size))
	console := &stalled{held: make(chan struct{})}
	spec.Stdout = console
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(console.held)
	if n := p.Drain(time.Minute); n != 0 || console.Len() != size {
		t.Errorf("%d bytes missing, %d shown", n, console.Len())
	}
}

type closedConsole struct{}

func (closedConsole) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestClosedConsoleCostsNothing(t *testing.T) {
	spec := shell(t, "seq 100000")
	spec.Stdout = closedConsole{}
	exit := run(t, spec)
	if got := readLog(t, spec, stdoutLog); exit.Code != 0 || !strings.HasSuffix(got, "\n100000\n") {
		t.Errorf("got %+v and %d bytes", exit, len(got))
	}
}

// A reader of our standard output that goes away ends the job as it would end a
// program of its own, not us; a job that ignores the signal keeps its logs.
func TestBrokenPipeOnStandardOutput(t *testing.T) {
	for _, test := range []struct{ name, script, last string }{
		{"ends", "while echo 1; do :; done", "1\n"},
		{"ignores", "trap '' PIPE; seq 100000", "\n100000\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := shell(t, test.script)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" | head -1`, os.Args[0])
			cmd.Env = append(os.Environ(), launcherVar+"="+mustJSON(t, spec))
			if out, err := cmd.Output(); err != nil || string(out) != "1\n" {
				t.Fatalf("%q, %v", out, err)
			}
			if got := readLog(t, spec, stdoutLog); !strings.HasSuffix(got, test.last) {
				t.Errorf("the log ends early, at %d bytes", len(got))
			}
		})
	}
}

// With the disk of the logs full the job goes on; the loss is counted, and the
// console still has the bytes.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "64k")
	const size = 256 << 10
	spec := shell(t, fmt.Sprintf(`head -c %d /dev/zero; exit 6`, size))
	spec.LogDir = dir
	var out bytes.Buffer
	spec.Stdout = &out
	exit := run(t, spec)
	if exit.Code != 6 || !errors.Is(exit.LogErr, syscall.ENOSPC) {
		t.Errorf("got %+v", exit)
	}
	info, err := os.Stat(filepath.Join(dir, stdoutLog))
	if err != nil {
		t.Fatal(err)
	}
	if exit.LostBytes < size-info.Size() || out.Len() != size {
		t.Errorf("%d kept, %d lost, %d shown", info.Size(), exit.LostBytes, out.Len())
	}
}

func TestLogsCannotBeOpened(t *testing.T) {
	spec := shell(t, "true")
	spec.LogDir = filepath.Join(spec.LogDir, "none")
	if _, err := Start(spec); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
