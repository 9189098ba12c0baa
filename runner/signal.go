package runner

import (
	"slices"
	"strings"
)

// signalNames are Linux's, by number from 1.
func signalNames() []string {
	return strings.Fields("SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 " +
		"SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ " +
		"SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS")
}

// SignalName is the name of a signal's number, as Linux counts; "" if it has none.
func SignalName(n int) string {
	if names := signalNames(); n >= 1 && n <= len(names) {
		return names[n-1]
	}
	return ""
}

// signalNumber is the number of a signal's name, 0 if there is no such.
func signalNumber(name string) int { return slices.Index(signalNames(), name) + 1 }
