//go:build linux

package process

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestFan(t *testing.T) {
	from := &Signals{c: make(chan os.Signal, 8)}
	f := NewFan(from)
	one, two := f.Join(), f.Join()
	from.c <- syscall.SIGUSR1
	for _, s := range []*Signals{one, two} {
		if got := <-s.Next(); got != syscall.SIGUSR1 {
			t.Errorf("got %v", got)
		}
	}
	f.Leave(one)
	from.c <- syscall.SIGUSR2
	if got := <-two.Next(); got != syscall.SIGUSR2 {
		t.Errorf("got %v", got)
	}
	f.Close()
	if len(one.c) != 0 {
		t.Error("who left still gets signals")
	}
}

// The cause of a cancellation may shorten the grace time.
func TestStopWithin(t *testing.T) {
	spec := shell(t, `trap "" TERM; echo ready; while :; do sleep 0.01; done`)
	spec.Grace = time.Hour
	out := newExpect()
	spec.Stdout = out
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out.wait(t, "ready")
	cancel(StopWithin(50 * time.Millisecond))
	exit, err := p.Wait(ctx)
	if err != nil || !exit.Killed || exit.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v", exit, err)
	}
}

// A guard that several processes share ends those that run and passes over the
// number of one that is gone.
func TestSharedGuard(t *testing.T) {
	spec := shell(t, `exec sleep 600`)
	guard := NewGuard(spec.Mark)
	first := shell(t, "exit 0")
	first.Guard = guard
	run(t, first)
	spec.Guard = guard
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	_ = guard.pipe.Close() // as when we are gone
	exit, err := p.Wait(t.Context())
	if err != nil || exit.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v", exit, err)
	}
	guard.Close()
}
