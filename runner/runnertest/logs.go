package runnertest

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// A line is there while the job runs, whole, and who follows sees the rest.
func logsWhileRunning(s *suite) {
	h := s.run(app("logs", s.role("r", `echo one; touch here; while [ ! -e go ]; do sleep 0.05; done; printf tw; sleep 0.3; echo o; printf end`)))
	s.untilFile("here")
	s.until("the line is in the log", func() bool { return s.logs(h, runner.LogQuery{}) == "one\n" })
	var got []string
	for line, err := range s.runner("").Logs(s.deadline(), h, runner.LogQuery{Tail: true}) {
		if err != nil {
			s.t.Fatalf("follow: %v", err)
		}
		if got = append(got, line.Text); len(got) == 1 {
			s.touch("go")
		}
	}
	if text := strings.TrimSuffix(strings.Join(got, "|"), "\n"); text != "one\n|two\n|end" { // what is put together may end every line
		s.t.Errorf("who followed saw %q", got)
	}
	s.check(s.wait(h), tracker.Succeeded, 0)
	if got := s.logs(h, runner.LogQuery{}); strings.TrimSuffix(got, "\n") != "one\ntwo\nend" {
		s.t.Errorf("afterwards the log is %q", got)
	}
}

func logsByStream(s *suite) {
	h := s.run(app("streams", s.role("r", `echo out1; sleep 0.2; echo err1 >&2; sleep 0.2; echo out2`)))
	s.check(s.wait(h), tracker.Succeeded, 0)
	for stream, want := range map[runner.Stream]string{runner.Stdout: "out1\nout2\n", runner.Stderr: "err1\n"} {
		if got := s.logs(h, runner.LogQuery{Stream: stream}); got != want {
			s.t.Errorf("%s is %q, want %q", stream, got, want)
		}
	}
	if got := s.logs(h, runner.LogQuery{Stream: runner.Combined}); got != "out1\nerr1\nout2\n" {
		s.t.Errorf("both together are %q", got)
	}
	for _, err := range s.r.Logs(s.t.Context(), h, runner.LogQuery{Stream: "sideways"}) {
		if !errors.Is(err, store.ErrInvalid) {
			s.t.Errorf("a stream that is none: %v", err)
		}
	}
}

func logsByReplica(s *suite) {
	a := s.role("alpha", `echo "alpha $1"`, runner.MacroReplicaID)
	a.NumReplicas = 3
	h := s.run(app("replicas", a, s.role("beta", "echo beta")))
	s.check(s.wait(h), tracker.Succeeded, 0)
	for _, c := range []struct {
		query runner.LogQuery
		want  string
	}{
		{runner.LogQuery{Role: "alpha", Replicas: []int{1}}, "alpha 1\n"},
		{runner.LogQuery{Role: "alpha", Replicas: []int{0, 2}}, "alpha 0\nalpha 2\n"},
		{runner.LogQuery{Role: "beta"}, "beta\n"},
		{runner.LogQuery{}, "alpha 0\nalpha 1\nalpha 2\nbeta\n"},
		{runner.LogQuery{Regex: regexp.MustCompile(`a [12]$`)}, "alpha 1\nalpha 2\n"},
	} {
		var got []string
		for _, line := range s.logLines(h, c.query) {
			if line.Attempt != 1 || line.Role == "beta" != (line.Text == "beta\n") {
				s.t.Errorf("%q is said to be of %s[%d], attempt %d", line.Text, line.Role, line.Replica, line.Attempt)
			}
			got = append(got, line.Text)
		}
		slices.Sort(got)
		if text := strings.Join(got, ""); text != c.want {
			s.t.Errorf("%+v gives %q, want %q", c.query, text, c.want)
		}
	}
	for _, query := range []runner.LogQuery{{Role: "gamma"}, {Role: "beta", Replicas: []int{1}}, {Replicas: []int{3}}} {
		for _, err := range s.r.Logs(s.t.Context(), h, query) {
			if !errors.Is(err, store.ErrNotExist) {
				s.t.Errorf("%+v: %v", query, err)
			}
		}
	}
}

// Lines are whole, however long, whatever their bytes, and however they end.
func logLines(s *suite) {
	h := s.run(app("lines", s.role("r", `printf 'a\r\n\n'; printf '10%%\r20%%\r'; printf 'bad \377\376\n'; head -c 200000 /dev/zero | tr '\0' x; printf '\nlast'`)))
	s.check(s.wait(h), tracker.Succeeded, 0)
	want := []string{"a\r\n", "\n", "10%\r", "20%\r", "bad \xff\xfe\n", strings.Repeat("x", 200000) + "\n", "last"}
	var got []string
	for _, line := range s.logLines(h, runner.LogQuery{Stream: runner.Stdout}) {
		got = append(got, line.Text)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the lines are %.300q", got)
	}
}

func logsOfAttempts(s *suite) {
	role := s.role("r", `echo x >> ran; echo "try $(wc -l < ran | tr -d ' ')"; [ "$(wc -l < ran)" -ge 2 ]`)
	role.MaxRetries = 1
	h := s.run(app("attempts", role))
	s.check(s.wait(h), tracker.Succeeded, 0)
	if got := s.logs(h, runner.LogQuery{}); got != "try 1\ntry 2\n" {
		s.t.Errorf("the log of all attempts is %q", got)
	}
	for n, want := range []string{1: "try 1\n", 2: "try 2\n"} {
		if got := s.logs(h, runner.LogQuery{Attempt: n}); n > 0 && got != want {
			s.t.Errorf("the log of attempt %d is %q", n, got)
		}
	}
}

// A scheduler that knows when lines were written goes by it, and one that does not
// refuses.
func logsByTime(s *suite) {
	h := s.run(app("times", s.role("r", `echo early; touch here; while [ ! -e go ]; do sleep 0.05; done; sleep 1; echo late`)))
	s.untilFile("here")
	s.until("the line is in the log", func() bool { return s.logs(h, runner.LogQuery{}) == "early\n" })
	between := time.Now().Add(500 * time.Millisecond)
	s.touch("go")
	time.Sleep(time.Until(between))
	s.check(s.wait(h), tracker.Succeeded, 0)
	for _, c := range []struct {
		query runner.LogQuery
		want  string
	}{{runner.LogQuery{Since: between}, "late\n"}, {runner.LogQuery{Until: between}, "early\n"}} {
		got, err := "", error(nil)
		for line, lineErr := range s.r.Logs(s.t.Context(), h, c.query) {
			got, err = got+line.Text, lineErr
		}
		if refused := got == "" && errors.Is(err, store.ErrUnsupported); got != c.want && !refused {
			s.t.Errorf("%+v gives %q, %v, want %q", c.query, got, err, c.want)
		}
	}
}
