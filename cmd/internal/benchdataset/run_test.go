package benchdataset

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

// reportVariable names the file in which this binary, called with a command, tells how that went.
const reportVariable = "BENCH_REPORT"

// usage is what a command took.
type usage struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes
	Failure   string
	Said      string // on its outputs
}

// measure runs a command to its end. It does so through a fresh process of this binary, because the memory of a
// process counts from its parent's at the start, and this one has grown.
func measure(t *testing.T, args, environ []string) (usage, error) {
	report := t.TempDir() + "/report"
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), environ...), reportVariable+"="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		return usage{}, fmt.Errorf("%w: %s", err, out)
	}
	var u usage
	body, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(body, &u)
	}
	if err == nil && u.Failure != "" {
		err = fmt.Errorf("%s", u.Failure)
	}
	return u, err
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
