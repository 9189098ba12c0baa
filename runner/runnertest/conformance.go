package runnertest

import "testing"

// Case is one clause of what a scheduler promises.
type Case struct {
	Name string
	run  func(s *suite)
}

// RunConformance runs all cases on a scheduler, each in an app of its own. An app is
// made of scripts of sh, so the replicas need a POSIX shell and nothing else.
func RunConformance(t *testing.T, h Harness) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.run(newSuite(t, &h)) })
	}
}

// Cases is the table, in the order in which it is run.
func Cases() []Case {
	return []Case{
		{"planning changes nothing", planIsPure},
		{"a request can be edited", requestIsEdited},
		{"every state", everyState},
		{"submitted once", submittedOnce},
		{"submitted at once", submittedAtOnce},
		{"exit codes", exitCodes},
		{"signals", signals},
		{"error file", errorFile},
		{"words arrive as they are", wordsArrive},
		{"surroundings", surroundings},
		{"macros", macros},
		{"several roles", severalRoles},
		{"one of several fails", oneFails},
		{"program not found", notFound},
		{"program not executable", notExecutable},
		{"one of several cannot start", oneCannotStart},
		{"cancel", cancel},
		{"cancel what ignores it", cancelStubborn},
		{"cancel what waits for a retry", cancelRetrying},
		{"retries to success", retriesToSuccess},
		{"retries run out", retriesRunOut},
		{"retry of a replica", retryReplica},
		{"retry of a role", retryRole},
		{"logs while running", logsWhileRunning},
		{"logs by stream", logsByStream},
		{"logs by role and replica", logsByReplica},
		{"log lines", logLines},
		{"logs of each attempt", logsOfAttempts},
		{"logs by time", logsByTime},
		{"list", list},
		{"describe", describe},
		{"delete", deleteEnded},
		{"delete what runs", deleteRunning},
		{"sessions", sessions},
		{"unknown app", unknownApp},
		{"bad options", badOptions},
	}
}
