package slurm

import (
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// job is what Slurm says of a job. Zero times are not known.
type job struct {
	ID       string // that scancel takes: 123, 123_4 of an array, 123+0 of a heterogeneous job
	Leader   string // the job's number without task or component
	Task     string // of an array; "" = none
	State    string // as Slurm spells it, the first word alone
	Reason   string // why it waits or ended; "" = none
	Code     int    // exit code of the batch script
	Signal   int    // that ended it; 0 = none
	HasExit  bool   // Code and Signal are known
	Restarts int    // how often it was requeued; 0 where not known
	User     string
	Nodes    string
	Name     string
	Comment  string

	Submitted, Started, Ended time.Time
}

// stateOf is Slurm's state as one of ours. It follows TorchX's table, and knows
// the states it leaves out.
func stateOf(slurm string) runner.State {
	switch slurm {
	case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESIZING", "SUSPENDED", "STOPPED", "RESV_DEL_HOLD", "POWER_UP_NODE":
		return tracker.Pending
	case "RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "UPDATE_DB":
		return tracker.Running
	case "COMPLETED":
		return tracker.Succeeded
	case "CANCELLED":
		return tracker.Cancelled
	case "BOOT_FAIL", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT", "LAUNCH_FAILED", "RECONFIG_FAIL":
		return tracker.Failed
	}
	return tracker.Unknown
}

// firstWord is a state without what sacct adds, as in "CANCELLED by 0" and "RUNNING+".
func firstWord(state string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(state), " ")
	return strings.TrimSuffix(word, "+")
}

// isState says whether a word may be one of Slurm's states.
func isState(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// isJobID says whether text is a job's number: 123, 123_4, 123_[0-9%2], 123+1.
func isJobID(text string) bool {
	number, rest := leading(text)
	if number == "" {
		return false
	}
	switch {
	case rest == "":
		return true
	case rest[0] == '+':
		n, tail := leading(rest[1:])
		return n != "" && tail == ""
	case rest[0] == '_':
		n, tail := leading(rest[1:])
		return n != "" && tail == "" || strings.HasPrefix(rest, "_[") && strings.HasSuffix(rest, "]")
	}
	return false
}

func leading(text string) (digits, rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

// timeOf reads a time as Slurm prints it under TZ=UTC; zero for N/A and its like.
func timeOf(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// exitOf reads code:signal.
func exitOf(text string) (code, signal int, ok bool) {
	a, b, cut := strings.Cut(text, ":")
	code, err := strconv.Atoi(a)
	signal, errSignal := strconv.Atoi(b)
	return code, signal, cut && err == nil && errSignal == nil && code >= 0 && signal >= 0
}

// unset is what Slurm prints for nothing.
func unset(text string) string {
	switch text {
	case "(null)", "N/A", "None", "NONE", "Unknown", "None assigned":
		return ""
	}
	return text
}
