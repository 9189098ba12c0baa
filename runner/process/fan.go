package process

import (
	"os"
	"sync"
	"time"
)

const suspendLimit = time.Second // for processes to be stopped before we stop ourselves

// Fan gives every signal to several, as each process of a job is to have it.
type Fan struct {
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards outs
	outs []*Signals
}

// suspension asks a process to stop its group and to say so. It is what a Fan
// makes of a request of the terminal to stop, since we stop once, after all of
// them.
type suspension struct{ *sync.WaitGroup }

func (suspension) Signal()        {}
func (suspension) String() string { return "suspension" }

// NewFan spreads what from collects, which must not be read by others until Close.
func NewFan(from *Signals) *Fan {
	f := &Fan{stop: make(chan struct{})}
	f.done.Go(func() {
		for {
			select {
			case <-f.stop:
				return
			case sig := <-from.next():
				f.spread(sig)
			}
		}
	})
	return f
}

// Join returns the signals that come from now on.
func (f *Fan) Join() *Signals {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &Signals{c: make(chan os.Signal, 64)}
	f.outs = append(f.outs, s)
	return s
}

// Leave ends what Join began.
func (f *Fan) Leave(s *Signals) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, out := range f.outs {
		if out == s {
			f.outs = append(f.outs[:i], f.outs[i+1:]...)
			return
		}
	}
}

// Close ends the spreading and waits for it.
func (f *Fan) Close() {
	close(f.stop)
	f.done.Wait()
}

func (f *Fan) spread(sig os.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !suspends(sig) {
		f.send(func() os.Signal { return sig })
		return
	}
	var stopped sync.WaitGroup
	f.send(func() os.Signal {
		stopped.Add(1)
		return suspension{&stopped}
	})
	all := make(chan struct{})
	go func() { // ends when the last has answered, at the latest when it ends
		stopped.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(suspendLimit):
	}
	stopSelf()
}

// send drops what the reader is 64 signals behind with, as the kernel would.
func (f *Fan) send(make func() os.Signal) {
	for _, out := range f.outs {
		select {
		case out.c <- make():
		default:
		}
	}
}
