//go:build unix

package runnertest_test

import (
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/runnertest"
)

func TestFakeConforms(t *testing.T) {
	fake := runnertest.NewFake(t.TempDir(), []string{"PATH=" + os.Getenv("PATH")})
	t.Cleanup(func() {
		if err := fake.Shut(); err != nil {
			t.Error(err)
		}
	})
	runnertest.RunConformance(t, runnertest.Harness{
		Scheduler: "fake", Local: true,
		Open: func(*testing.T) runner.Scheduler { return fake },
		Dir:  func(t *testing.T) string { return t.TempDir() },
	})
}
