package runnertest

import (
	"slices"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

func retriesToSuccess(s *suite) {
	role := s.role("r", `echo "$HEIRLOOM_ATTEMPT" >> ran; [ "$(wc -l < ran)" -ge 3 ]`)
	role.MaxRetries = 5
	h := s.run(app("retried", role))
	status := s.wait(h)
	s.check(status, tracker.Succeeded, 0)
	if r := s.replica(status, "r", 0); status.NumRestarts != 2 || r.Attempt != 3 {
		s.t.Errorf("restarts: %d, the replica's attempt: %d", status.NumRestarts, r.Attempt)
	}
	if got := s.read("ran"); got != "1\n2\n3\n" {
		s.t.Errorf("the attempts were told that they are %q", got)
	}
}

func retriesRunOut(s *suite) {
	role := s.role("r", "echo x >> ran; exit 5")
	role.MaxRetries = 1
	status := s.result(app("exhausted", role))
	s.check(status, tracker.Failed, 5)
	if got := s.read("ran"); got != "x\nx\n" || status.NumRestarts != 1 {
		s.t.Errorf("it ran %q, restarts: %d", got, status.NumRestarts)
	}
}

// retried is an app in which alpha[1] fails once, when the three others are there, and all
// but it wait for its second try. Each writes when it starts.
func (s *suite) retried(policy runner.RetryPolicy) (starts []string, status runner.AppStatus) {
	script := `echo "$1 $2" >> starts
		case "$1 $2" in
		"alpha 1") if [ -e failed ]; then touch again; exit 0; fi
			while [ "$(wc -l < starts)" -lt 3 ]; do sleep 0.05; done; touch failed; exit 4;;
		*) while [ ! -e again ]; do sleep 0.05; done;;
		esac`
	alpha := s.role("alpha", script, "alpha", runner.MacroReplicaID)
	beta := s.role("beta", script, "beta", runner.MacroReplicaID)
	alpha.NumReplicas, alpha.MaxRetries, alpha.RetryPolicy = 2, 1, policy
	beta.MaxRetries, beta.RetryPolicy = 1, policy
	status = s.result(app("policy", alpha, beta))
	return s.lines("starts"), status
}

func retryReplica(s *suite) { s.policy(runner.RetryReplica, "alpha 0", "alpha 1", "alpha 1", "beta 0") }

func retryRole(s *suite) {
	s.policy(runner.RetryRole, "alpha 0", "alpha 0", "alpha 1", "alpha 1", "beta 0")
}

func (s *suite) policy(policy runner.RetryPolicy, want ...string) {
	s.t.Helper()
	if !s.has(policy) {
		s.t.Skipf("the scheduler has no policy %s", policy)
	}
	starts, status := s.retried(policy)
	s.check(status, tracker.Succeeded, 0)
	if !slices.Equal(starts, want) {
		s.t.Errorf("started were %q, want %q", starts, want)
	}
}
