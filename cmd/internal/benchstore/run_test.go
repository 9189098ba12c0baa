package benchstore

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// command is one process to measure.
type command struct {
	args    []string
	environ []string // beside that of this process
}

// reportVariable names the file in which this binary, called with a command, tells how that went.
const reportVariable = "BENCH_REPORT"

// usage is what a command took.
type usage struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes
	Failure   string
	Said      string // on its outputs
}

// measure runs the command to its end. It does so through a fresh process of this binary, because the memory of a
// process counts from its parent's at the start, and this one has grown.
func (c command) measure(t *testing.T) measured {
	report := t.TempDir() + "/report"
	cmd := exec.CommandContext(t.Context(), os.Args[0], c.args...)
	environ := append(os.Environ(), c.environ...)
	environ = slices.DeleteFunc(environ, func(v string) bool { return v == "AWS_PROFILE=" }) // aws-cli takes it for a name
	cmd.Env = append(environ, reportVariable+"="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		return measured{err: fmt.Errorf("%w: %s", err, out)}
	}
	var u usage
	body, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(body, &u)
	}
	if u.Said != "" {
		t.Logf("%s says: %s", c.args[0], u.Said)
	}
	if err == nil && u.Failure != "" {
		err = fmt.Errorf("%s", u.Failure)
	}
	return measured{wall: u.Wall, cpu: u.CPU, peak: u.Peak, err: err}
}

// runMeasured runs a command and writes what it took to a file.
func runMeasured(args []string, report string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, reportVariable+"=") })
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	text := strings.TrimSpace(out.String())
	u := usage{Wall: time.Since(begin), Said: text[max(0, len(text)-400):]}
	if err != nil {
		u.Failure = err.Error() + ": " + u.Said
	}
	if state := cmd.ProcessState; state != nil {
		u.CPU = state.UserTime() + state.SystemTime()
		u.Peak = peak(state)
	}
	body, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return os.WriteFile(report, body, 0o600)
}
