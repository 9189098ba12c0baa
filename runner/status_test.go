package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

func code(n int) *int { return &n }

func TestExitCodeOfApp(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	ok := ReplicaStatus{State: tracker.Succeeded, ExitCode: code(0), Ended: at(1)}
	app := func(state State, replicas ...ReplicaStatus) AppStatus {
		for i := range replicas {
			replicas[i].ID, replicas[i].Role = i, "r"
		}
		return AppStatus{Handle: Handle{"local", "torchx", "a"}, State: state, Roles: []RoleStatus{{Role: "r", Replicas: replicas}}}
	}
	for _, c := range []struct {
		name   string
		status AppStatus
		code   int
		says   string
	}{
		{"succeeded", app(tracker.Succeeded, ok), 0, ""},
		{"the first that ended", app(tracker.Failed, ReplicaStatus{State: tracker.Failed, ExitCode: code(3), Ended: at(9)}, ReplicaStatus{State: tracker.Failed, ExitCode: code(4), Ended: at(5)}), 4, "r[1] exited with 4"},
		{"those we ended do not count", app(tracker.Failed, ReplicaStatus{State: tracker.Cancelled, Signal: "SIGTERM", Ended: at(1)}, ReplicaStatus{State: tracker.Failed, ExitCode: code(9), Ended: at(5)}), 9, "r[1] exited with 9"},
		{"signal", app(tracker.Failed, ok, ReplicaStatus{State: tracker.Failed, Signal: "SIGKILL", Reason: "out of memory"}), 137, "r[1] was ended by SIGKILL (out of memory)"},
		{"cancelled", app(tracker.Cancelled, ReplicaStatus{State: tracker.Cancelled, Signal: "SIGTERM"}), 143, "is CANCELLED"},
		{"cancelled before it ran", app(tracker.Cancelled), 143, "is CANCELLED"},
		{"lost", app(tracker.Lost, ReplicaStatus{State: tracker.Lost}), NoExitCode, "is LOST"},
		{"succeeded in part", app(tracker.Lost, ok, ReplicaStatus{State: tracker.Lost}), NoExitCode, "is LOST"},
		{"runs", app(tracker.Running, ReplicaStatus{State: tracker.Running}), NoExitCode, "is RUNNING"},
		{"failed without a word", app(tracker.Failed), NoExitCode, "is FAILED"},
		{"said why", app(tracker.Failed, ReplicaStatus{State: tracker.Failed, ExitCode: code(1), Error: &ReplicaError{Message: "boom"}}), 1, "exited with 1: boom"},
	} {
		if got := c.status.ExitCode(); got != c.code {
			t.Errorf("%s: got %d, want %d", c.name, got, c.code)
		}
		err := c.status.Err()
		var status *StatusError
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &status) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "job did not succeed: local://torchx/a is ")) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestFoldState(t *testing.T) {
	for want, states := range map[State][]State{
		tracker.Running:   {tracker.Succeeded, tracker.Failed, tracker.Running},
		tracker.Lost:      {tracker.Succeeded, tracker.Lost, tracker.Failed},
		tracker.Failed:    {tracker.Succeeded, tracker.Failed, tracker.Cancelled},
		tracker.Cancelled: {tracker.Succeeded, tracker.Cancelled},
		tracker.Pending:   {tracker.Succeeded, tracker.Pending},
		tracker.Succeeded: {tracker.Succeeded, tracker.Succeeded},
		tracker.Unknown:   {},
	} {
		if got := FoldState(states); got != want {
			t.Errorf("%v: got %s, want %s", states, got, want)
		}
	}
}

func TestReplicaErrorForms(t *testing.T) {
	for text, want := range map[string]ReplicaError{
		`{"message": {"message": "boom", "errorCode": 7, "extraInfo": {"timestamp": "1600000000"}}}`: {Message: "boom", ExitCode: code(7), Time: time.Unix(1600000000, 0).UTC()},
		`{"message": {"message": "boom", "extraInfo": {"timestamp": 1600000000.5}}}`:                 {Message: "boom", Time: time.UnixMilli(1600000000500).UTC()},
		`{"message": "flat", "errorCode": "3", "timestamp": 1600000000}`:                             {Message: "flat", ExitCode: code(3), Time: time.Unix(1600000000, 0).UTC()},
		`{"message": "bare"}`:     {Message: "bare"},
		`{"something": "else"}`:   {Raw: `{"something": "else"}`},
		`Traceback: no JSON`:      {Raw: `Traceback: no JSON`},
		`{"message": ["x"]}`:      {Raw: `{"message": ["x"]}`},
		`{"message": {"a": "b"}}`: {Raw: `{"message": {"a": "b"}}`},
	} {
		got := ParseReplicaError([]byte(text))
		same := got.Message == want.Message && got.Raw == want.Raw && got.Time.Equal(want.Time) && (got.ExitCode == nil) == (want.ExitCode == nil)
		if !same || got.ExitCode != nil && *got.ExitCode != *want.ExitCode {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestSignalNames(t *testing.T) {
	for n, name := range map[int]string{1: "SIGHUP", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 31: "SIGSYS", 0: "", 32: "", -1: ""} {
		if got := SignalName(n); got != name || name != "" && signalNumber(name) != n {
			t.Errorf("%d is %q", n, got)
		}
	}
}
