//go:build unix

package tracker

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// FlushOn writes what waits when one of the signals arrives, and then lets it do
// what it does by default, which is to end the process. It is for programs that
// handle none themselves; others call Flush. stop ends it.
func (r *AppRun) FlushOn(signals ...syscall.Signal) (stop func()) {
	arrived := make(chan os.Signal, 1)
	done := make(chan struct{})
	for _, s := range signals {
		signal.Notify(arrived, s)
	}
	go func() {
		select {
		case <-done:
		case s := <-arrived:
			ctx, cancel := context.WithTimeout(context.Background(), flushDeadline)
			defer cancel()
			_ = r.Flush(ctx) // the process ends; there is nobody to tell
			signal.Reset(s)
			if s, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(os.Getpid(), s) // no process is refused to signal itself
			}
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(arrived)
		close(done)
	})
}
