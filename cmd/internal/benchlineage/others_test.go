package benchlineage

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// python is the interpreter of an environment with these packages, if it can be had.
func python(t *testing.T, requirements ...string) (path string, ok bool) {
	t.Run("get "+requirements[0], func(t *testing.T) { // a skip of its own
		path = servers.Python(t, requirements...)
	})
	return path, path != ""
}

// What the others are asked: the row, and the name of the question in their scripts.
var (
	torchxRows = [][2]string{{"run ids", "ids"}, {"runs --limit 20", "runs"}, {"runs --where, 3 keys", "where"}, {"show", "show"}, {"lineage --up, all", "up"}}
	mlflowRows = [][2]string{{"runs --limit 20", "runs"}, {"runs --where, 3 keys", "where"}, {"runs --where, 3 rare keys", "rare"}, {"show", "show"}}
)

// others asks TorchX and MLflow the same questions of the same contents, but for all descendants: each of them costs
// TorchX a look into every run, which takes minutes of a thousand.
func (s *site) others(t *testing.T) {
	if s.runs > s.onDisk {
		return
	}
	if s.torchx != "" {
		root := filepath.Join(s.place, "tracker")
		for _, q := range torchxRows {
			run := s.parent
			if q[1] == "up" {
				run = s.last
			}
			s.python(t, q[0], "torchx", s.torchx, torchxScript, root, q[1], run)
		}
	}
	if s.mlflow == "" {
		return
	}
	dir := t.TempDir()
	file, exported := filepath.Join(dir, "mlflow.db"), filepath.Join(dir, "runs.jsonl")
	exportRuns(t, s.root, s.runs, exported)
	if out, err := exec.CommandContext(t.Context(), s.mlflow, "-c", fillScript, file, exported, filepath.Join(dir, "artifacts")).CombinedOutput(); err != nil {
		t.Fatalf("fill MLflow's store: %v\n%s", err, out)
	}
	for _, q := range mlflowRows {
		s.python(t, q[0], "mlflow", s.mlflow, mlflowScript, file, q[1], s.parent)
	}
}

// python measures a script, once where it takes long.
func (s *site) python(t *testing.T, row, tool, interpreter, script string, args ...string) {
	if !s.wants(row, tool) {
		return
	}
	var best result
	for n := range s.times {
		u, err := usage.Measure(t.Context(), append([]string{interpreter, "-c", script}, args...), append(os.Environ(), "LOGLEVEL=ERROR"))
		if err != nil {
			t.Errorf("%s by %s: %v", row, tool, err)
			return
		}
		one := result{tool: tool, runs: s.runs, took: u}
		var seconds float64
		if _, err := fmt.Sscan(u.Said, &one.found, &seconds); err != nil {
			t.Errorf("%s by %s says %q", row, tool, u.Said)
		}
		one.inside = time.Duration(seconds * float64(time.Second))
		if n == 0 || u.Wall < best.took.Wall {
			best = one
		}
		if u.Wall > 20*time.Second {
			break
		}
	}
	s.add(t, row, best)
}
