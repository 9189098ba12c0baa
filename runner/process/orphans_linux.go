package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Orphans are processes of jobs that left their session and their environment and
// whose parents are gone. They become ours in the place of init's, so that they
// can be found and ended.
type Orphans struct {
	session int

	mu  sync.Mutex // guards own, and keeps a child just born from being taken for an orphan
	own map[int]bool
}

// Adopt makes this process the one to which orphans among its descendants fall.
// It is for a program that runs one job: who starts other processes meanwhile
// leaves them in the session of the program, or they are taken for orphans.
func Adopt() (*Orphans, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become subreaper: %w", err)
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("become subreaper: %w", err)
	}
	return &Orphans{session: session, own: map[int]bool{}}, nil
}

func (o *Orphans) start(cmd *exec.Cmd) error {
	if o == nil {
		return cmd.Start()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		o.own[cmd.Process.Pid] = true
	}
	return err
}

func (o *Orphans) forget(pid int) {
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.own, pid)
	}
}

// End ends all orphans, and what falls to us when they go: SIGTERM, and at the
// deadline, or when ctx ends, SIGKILL. It is called when every process of the job
// has been waited for. It returns how many there were, and those that even
// SIGKILL did not end.
func (o *Orphans) End(ctx context.Context, guard *Guard, deadline time.Time) (left int, survivors []int) {
	if o == nil {
		return 0, nil
	}
	seen := map[int]bool{}
	tick := time.NewTicker(glance)
	defer tick.Stop()
	end := time.Now().Add(reap)
	if last := deadline.Add(reap); last.After(end) {
		end = last
	}
	for {
		living := o.living(guard.pid())
		if len(living) == 0 {
			return len(seen), nil
		}
		now := time.Now()
		if now.After(end) {
			return len(seen), living
		}
		for _, pid := range living {
			switch {
			case now.After(deadline) || ctx.Err() != nil:
				_ = syscall.Kill(pid, syscall.SIGKILL)
			case !seen[pid]:
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
			seen[pid] = true
		}
		<-tick.C
	}
}

// Reap waits for orphans that ended, whose numbers are else not given again. Call it
// now and then.
func (o *Orphans) Reap() {
	if o != nil {
		o.living(0)
	}
}

// living gives the orphans that live, and waits for those that do not.
func (o *Orphans) living(guard int) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []int
	for _, pid := range processes() {
		s, ok := readStat(pid)
		if !ok || s.parent != os.Getpid() || s.session == o.session || o.own[pid] || pid == guard {
			continue
		}
		if s.state == 'Z' {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			continue
		}
		found = append(found, pid)
	}
	return found
}

// processes gives all of the machine.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
