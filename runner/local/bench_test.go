//go:build linux

package local

import (
	"context"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

func benchPlan(b *testing.B, s *Scheduler, url string, roles ...runner.Role) *runner.Plan {
	b.Helper()
	r, err := runner.New("", []runner.Backend{{Name: Name, Open: func(context.Context) (runner.Scheduler, error) { return s, nil }}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := r.Plan(b.Context(), runner.Request{App: runner.App{Name: "bench", Roles: roles}, Dir: b.TempDir(), Recording: runner.Recording{Store: url}})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

func benchForeground(b *testing.B, roles ...runner.Role) {
	s, err := New(testOptions(b.TempDir() + "/state"))
	if err != nil {
		b.Fatal(err)
	}
	url := b.TempDir()
	for b.Loop() {
		result, err := s.RunForeground(b.Context(), benchPlan(b, s, url, roles...), Foreground{})
		if err != nil || result.State != tracker.Succeeded {
			b.Fatal(result, err)
		}
	}
}

// BenchmarkTrue is what an app in the foreground costs, recorded on local disk.
func BenchmarkTrue(b *testing.B) {
	benchForeground(b, runner.Role{Name: "a", NumReplicas: 1, Entrypoint: "true"})
}

// Benchmark100Replicas is a hundred of them at once.
func Benchmark100Replicas(b *testing.B) {
	benchForeground(b, runner.Role{Name: "a", NumReplicas: 100, Entrypoint: "true"})
}

// BenchmarkLogs is 64 MiB of lines through the logs.
func BenchmarkLogs(b *testing.B) {
	b.SetBytes(64 << 20)
	benchForeground(b, runner.Role{Name: "a", NumReplicas: 1, Entrypoint: "sh", Args: []string{"-c", "yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmno | head -c 67108864"}})
}
