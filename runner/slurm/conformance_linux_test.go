package slurm

import (
	"os"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/runnertest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// openCluster gives what makes schedulers for a real cluster, all with one state
// directory, as the shells of one user have it.
func openCluster(t *testing.T, c *servers.Slurm) func(*testing.T) runner.Scheduler {
	t.Helper()
	state := t.TempDir()
	return func(t *testing.T) runner.Scheduler {
		t.Helper()
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Options{
			Environ: append(os.Environ(), c.Environ...), StateDir: state, Program: program, Poll: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestConformance(t *testing.T) {
	cluster := servers.StartSlurm(t, nil)
	runnertest.RunConformance(t, runnertest.Harness{
		Scheduler: Name, Open: openCluster(t, cluster), Local: true, Patience: 5 * time.Minute,
		Dir: func(t *testing.T) string { return t.TempDir() },
	})
}
