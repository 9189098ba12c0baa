package process

import (
	"os"
	"os/signal"
)

// Signals collects the signals sent to us while a job runs, for the job to get
// instead. Those ignored from the start (nohup, a background job of a script)
// stay so, for us and for the job.
type Signals struct{ c chan os.Signal }

// Catch begins to collect. Until Close a broken pipe on our own standard output
// is an error of that write and does not end us.
func Catch() *Signals {
	s := &Signals{c: make(chan os.Signal, 64)}
	for _, sig := range caught() {
		if !signal.Ignored(sig) {
			signal.Notify(s.c, sig)
		}
	}
	return s
}

// SignalsFrom passes on what comes from c, whatever its source.
func SignalsFrom(c chan os.Signal) *Signals { return &Signals{c: c} }

// Next is where the next signal comes from, for who has no process to pass it to.
func (s *Signals) Next() <-chan os.Signal { return s.next() }

// Close lets signals have their usual effect again. It may be called twice.
func (s *Signals) Close() { signal.Stop(s.c) }

func (s *Signals) next() <-chan os.Signal {
	if s == nil {
		return nil
	}
	return s.c
}
