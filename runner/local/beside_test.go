//go:build unix

package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// launching is a way to run a program to its end: ours, TorchX's, and without either.
type launching struct {
	name string
	args func(replicas int, command ...string) []string
}

// launchings builds heirloom itself, for its start is part of what a launch costs.
func launchings(b *testing.B) []launching {
	b.Helper()
	exe := filepath.Join(b.TempDir(), "heirloom")
	if out, err := exec.Command("go", "build", "-o", exe, "../../cmd/heirloom").CombinedOutput(); err != nil {
		b.Fatalf("build heirloom: %v\n%s", err, out)
	}
	torchx := filepath.Join(filepath.Dir(servers.Python(b, "torchx==0.7.0", "fsspec==2026.9.0")), "torchx")
	return []launching{
		{"fork+exec", func(replicas int, command ...string) []string {
			if replicas == 1 {
				return command
			}
			return append([]string{"sh", "-c", `n=$1; shift; while [ "$n" -gt 0 ]; do "$@" & n=$((n-1)); done; wait`, "sh", strconv.Itoa(replicas)}, command...)
		}},
		{"heirloom", func(replicas int, command ...string) []string {
			return append([]string{exe, "-q", "run", "--replicas", strconv.Itoa(replicas), "--"}, command...)
		}},
		{"torchx", func(replicas int, command ...string) []string {
			return append([]string{torchx, "run", "-s", "local_cwd", "utils.binary", "--num_replicas", strconv.Itoa(replicas), "--entrypoint", command[0], "--"}, command[1:]...)
		}},
	}
}

// launched runs a program to its end, with what it writes thrown away by a reader, and
// gives the time at which that was over.
func (l launching) launched(b *testing.B, dir string, environ []string, replicas int, command ...string) time.Time {
	b.Helper()
	args := l.args(replicas, command...)
	cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "HEIRLOOM_STORE=" + filepath.Join(dir, "store")}, environ...)
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		b.Fatalf("%q: %v\n%s", args, err, said.text)
	}
	return time.Now()
}

// tail keeps the end of what was written.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[max(0, len(p)-2000):]...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(p), nil
}

// BenchmarkBesideTrue is what a recorded launch of a program that does nothing costs.
func BenchmarkBesideTrue(b *testing.B) { benchBeside(b, 1, "true") }

// BenchmarkBeside100Replicas is a hundred of them at once.
func BenchmarkBeside100Replicas(b *testing.B) { benchBeside(b, 100, "true") }

// BenchmarkBesideLogs is 16 MiB of lines, shown and kept.
func BenchmarkBesideLogs(b *testing.B) {
	const size = 16 << 20
	lines := filepath.Join(b.TempDir(), "lines")
	if err := os.WriteFile(lines, []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", size/64)), 0o600); err != nil {
		b.Fatal(err)
	}
	benchBesideBytes(b, size, 1, "cat", lines)
}

func benchBeside(b *testing.B, replicas int, command ...string) {
	benchBesideBytes(b, 0, replicas, command...)
}

func benchBesideBytes(b *testing.B, size int64, replicas int, command ...string) {
	for _, l := range launchings(b) {
		b.Run(l.name, func(b *testing.B) {
			dir := b.TempDir()
			l.launched(b, dir, nil, 1, "true") // what is made once is not measured
			b.SetBytes(size)
			for b.Loop() {
				l.launched(b, dir, nil, replicas, command...)
			}
		})
	}
}

// BenchmarkBesideReturn is the time from the last act of a job to the return of what
// launched it.
func BenchmarkBesideReturn(b *testing.B) {
	for _, l := range launchings(b) {
		b.Run(l.name, func(b *testing.B) {
			dir, stamp := b.TempDir(), filepath.Join(b.TempDir(), "stamp")
			var sum time.Duration
			n := 0
			for b.Loop() {
				returned := l.launched(b, dir, []string{modeVar + "=" + stamping, stateVar + "=" + stamp}, 1, os.Args[0])
				body, err := os.ReadFile(stamp)
				if err != nil {
					b.Fatal(err)
				}
				var at int64
				if _, err := fmt.Sscan(string(body), &at); err != nil {
					b.Fatal(err)
				}
				sum, n = sum+returned.Sub(time.Unix(0, at)), n+1
			}
			b.ReportMetric(float64(sum.Microseconds())/float64(n)/1000, "ms-to-return")
		})
	}
}

// stamp writes the time, as the last that a job does.
func stamp(file string) error {
	return os.WriteFile(file, []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), 0o600)
}
