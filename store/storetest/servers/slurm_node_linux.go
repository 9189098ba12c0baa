package servers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Run calls one of Slurm's commands on the cluster and gives what it prints; the
// test fails if it does.
func (s *Slurm) Run(name string, args ...string) string {
	s.t.Helper()
	out, err := s.try(name, args...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

func (s *Slurm) try(name string, args ...string) (string, error) {
	path, err := slurmTool(name)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = s.environ()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, errs.String())
	}
	return strings.TrimSpace(string(out)), err
}

// StartNode starts the daemon of a node.
func (s *Slurm) StartNode(node string) {
	s.t.Helper()
	s.daemons[node] = s.serve("slurmd", []string{nodeMark(node)}, "-D", "-c", "-N", node, "-f", s.conf)
}

// KillNode takes a node away as a power cut does: its jobs' processes stand still,
// the controller is told, which else would wait for its timeout, and then they and
// its daemon are killed. Jobs that had a part there are requeued, if they may be.
func (s *Slurm) KillNode(node string) {
	s.t.Helper()
	marks := []string{nodeMark(node), "SLURMD_NODENAME=" + node}
	s.signal(syscall.SIGSTOP, marks...)
	s.Run("scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=test")
	s.signal(syscall.SIGKILL, marks...)
	s.daemons[node]()
	s.signal(syscall.SIGKILL, marks...)
}

// nodeMark tells the supervisors that a node's daemon forks, whose environment is the daemon's.
func nodeMark(node string) string { return "HEIRLOOM_TEST_NODE=" + node }

// Release lets a requeued job start now instead of after the hold.
func (s *Slurm) Release(job string) {
	s.t.Helper()
	s.Run("scontrol", "update", "JobId="+job, "StartTime=now")
}

// clear ends all jobs and leaves no process of theirs behind.
func (s *Slurm) clear() {
	if s.t.Failed() {
		s.t.Log(s.tails())
	}
	for _, stop := range s.daemons {
		stop()
	}
	for range 100 {
		if s.signal(syscall.SIGKILL, "SLURM_CONF="+s.conf) == 0 {
			return
		}
		time.Sleep(pollInterval)
	}
	s.t.Errorf("processes of the cluster's jobs cannot be killed")
}

// signal reaches the processes whose environment names the cluster and one of
// these entries, daemons too, and gives their number.
func (s *Slurm) signal(sig syscall.Signal, marks ...string) int {
	n := 0
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		body, _ := os.ReadFile(entry)
		vars := strings.Split(string(body), "\x00")
		marked := slices.ContainsFunc(marks, func(m string) bool { return slices.Contains(vars, m) })
		if marked && slices.Contains(vars, "SLURM_CONF="+s.conf) && syscall.Kill(pid, sig) == nil {
			n++
		}
	}
	return n
}
