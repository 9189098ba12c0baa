package tracker

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// FlushOn writes what waits when one of the signals arrives, and then lets it do
// what it does by default, which is to end the process. It is for programs that
// handle none themselves; others call Flush. stop ends it.
func (r *AppRun) FlushOn(signals ...os.Signal) (stop func()) {
	arrived := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(arrived, signals...)
	go func() {
		select {
		case <-done:
		case s := <-arrived:
			ctx, cancel := context.WithTimeout(context.Background(), flushDeadline)
			defer cancel()
			_ = r.Flush(ctx) // the process ends; there is nobody to tell
			signal.Reset(s)
			endBy(s)
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(arrived)
		close(done)
	})
}

// endBy ends the process by the signal, or where that cannot be as if by it.
func endBy(s os.Signal) {
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		return
	}
	os.Exit(1)
}
