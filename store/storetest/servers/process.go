package servers

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"
)

const (
	startTimeout = 5 * time.Minute
	pollInterval = 10 * time.Millisecond
)

// process is a running server.
type process struct {
	name   string
	output lockedBuffer
	exited chan struct{} // closed when it has ended
}

// start runs a server until the test ends and waits until url answers, with any
// status below 500.
func start(t testing.TB, name, path string, args, environ []string, url string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.SysProcAttr = dieWithParent()
	p := &process{name: name, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	stop, err := p.run(cmd)
	if err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(stop)
	if err := p.ready(url); err != nil {
		t.Fatalf("start %s: %v\n%s", name, err, p.output.String())
	}
}

// run starts cmd from a thread that lives as long as the child, because the
// child dies with it.
func (p *process) run(cmd *exec.Cmd) (stop func(), err error) {
	started, end := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		go func() {
			cmd.Wait() // killed, as a rule
			close(p.exited)
		}()
		<-end
		cmd.Process.Kill()
		<-p.exited
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() { close(end); <-p.exited }, nil
}

func (p *process) ready(url string) error {
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for {
		response, err := client.Get(url)
		if err == nil {
			response.Body.Close()
			if response.StatusCode < 500 {
				return nil
			}
			err = fmt.Errorf("%s answers %s", url, response.Status)
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended at once")
		case <-deadline.C:
			return err
		case <-time.After(pollInterval):
		}
	}
}

// lockedBuffer collects what a server prints.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
