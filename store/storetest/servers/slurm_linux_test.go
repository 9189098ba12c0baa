package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSlurm(t *testing.T) {
	s := StartSlurm(t, nil)
	out := filepath.Join(t.TempDir(), "out")
	job := s.Run("sbatch", "--parsable", "--wait", "-N4", "-o", out, "--wrap", "srun sh -c 'echo $SLURMD_NODENAME'")
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range s.Nodes {
		if !strings.Contains(string(text), node+"\n") {
			t.Errorf("%s did not take part in job %s:\n%s", node, job, text)
		}
	}
}

// Two clusters of one machine know nothing of each other.
func TestSlurmClustersSideBySide(t *testing.T) {
	a, b := StartSlurm(t, &SlurmOptions{Nodes: 1}), StartSlurm(t, &SlurmOptions{Nodes: 1})
	a.Run("sbatch", "-o", "/dev/null", "--wrap", "sleep 100")
	if jobs := b.Run("squeue", "-h"); jobs != "" {
		t.Errorf("the other cluster shows %s", jobs)
	}
}

func TestSlurmNodeIsTakenAway(t *testing.T) {
	s := StartSlurm(t, nil)
	out := filepath.Join(t.TempDir(), "out")
	job := s.Run("sbatch", "--parsable", "--requeue", "-N2", "-w", "n3,n4", "-o", out, "--wrap", "srun -N2 sleep 1000; echo ended")
	s.await("job on two nodes", func() bool { return s.signal(0, "SLURMD_NODENAME=n4") > 0 })
	s.KillNode("n4")
	if n := s.signal(0, "SLURMD_NODENAME=n4", nodeMark("n4")); n != 0 {
		t.Errorf("%d processes of the node are alive", n)
	}
	s.await("requeue", func() bool {
		state, _ := s.try("squeue", "-h", "-j", job, "-O", "State:|,RestartCnt:|")
		return state == "PENDING|1|"
	})
}

func TestSlurmLeavesNothing(t *testing.T) {
	var s *Slurm
	t.Run("cluster", func(t *testing.T) {
		s = StartSlurm(t, &SlurmOptions{Nodes: 1})
		s.Run("sbatch", "-o", "/dev/null", "--wrap", "srun sleep 1000")
		s.await("job", func() bool { return s.signal(0, "SLURMD_NODENAME=n1") > 0 })
	})
	for end := time.Now().Add(10 * time.Second); s.signal(0, "SLURM_CONF="+s.conf) > 0; time.Sleep(pollInterval) {
		if time.Now().After(end) {
			t.Fatal("processes of the cluster outlive the test")
		}
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its directory: %v", err)
	}
}
