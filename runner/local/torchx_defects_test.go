//go:build linux

package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// defect is one of TorchX's local scheduler, by the name that testdata/torchx_defects.py
// has for it, and the test that fails with it.
type defect struct {
	name string
	here func(*testing.T)
}

// What TorchX's local scheduler gets wrong is seen there, in its last release, and not here.
func TestDefectsOfTorchX(t *testing.T) {
	ask := sync.OnceValues(func() (map[string][]any, error) { return defectsOfTorchX(t) })
	for _, d := range []defect{
		{"pieces of lines", linesAreWhole},
		{"leader alone is killed", cancelEndsTheTreeAndReturnsAtOnce},
		{"cancel blocks", nil},
		{"status signals", statusOnlyLooks},
		{"working directory in PATH", workingDirectoryIsNotInPath},
		{"half started", failedStartLeavesNothing},
		{"names lead outside", namesStayInside},
		{"forgotten", seenFromElsewhere},
		{"not listed", nil},
		{"no exit code", nil},
		{"no retries", nil},
		{"orphans", killedSupervisorIsLost},
		{"logs removed", deleteLeavesTheLogs},
		{"logs without end", logsEndWithoutTail},
		{"newest evicted", nil}, // nothing is evicted: state is in files, which age
		{"no nvidia-smi", noDriverNoGPUs},
		{"plan changes the app", planChangesNothing},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Run("TorchX", func(t *testing.T) {
				servers.Python(t, torchxAndFsspec()...) // or it is skipped
				all, err := ask()
				if err != nil {
					t.Fatal(err)
				}
				if got := all[d.name]; len(got) != 2 || got[0] != true {
					t.Errorf("the defect does not show: %v", got)
				}
			})
			if d.here != nil { // else by the one before
				t.Run("heirloom", d.here)
			}
		})
	}
}

func torchxAndFsspec() []string { return []string{"torchx==0.7.0", "fsspec==2026.9.0"} }

// defectsOfTorchX runs each defect in TorchX.
func defectsOfTorchX(t *testing.T) (map[string][]any, error) {
	cmd := exec.Command(servers.Python(t, torchxAndFsspec()...), "testdata/torchx_defects.py")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "LOGLEVEL=CRITICAL"}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all map[string][]any
	return all, json.NewDecoder(bytes.NewReader(out)).Decode(&all)
}

// Without Tail logs end with what is there, also while the app runs.
func logsEndWithoutTail(t *testing.T) {
	s := newScheduler(t)
	stay := filepath.Join(t.TempDir(), "go")
	h := submitted(t, s, shRole("sh", 1, "echo x; while [ ! -e "+stay+" ]; do sleep 0.05; done"))
	await(t, "a line", func() bool { return slices.Equal(linesOf(t, s, h, runner.LogQuery{}), []string{"x\n"}) })
	if err := os.WriteFile(stay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waited(t, s, h)
}

// Where nothing tells of GPUs there are none, which is said.
func noDriverNoGPUs(t *testing.T) {
	s := newScheduler(t)
	t.Setenv("PATH", t.TempDir())
	role := shRole("sh", 1, ":")
	role.Resource.GPU = 1
	_, err := planned(t, s, runner.Config{"auto_set_cuda_visible_devices": true}, role)
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "this machine has 0") {
		t.Errorf("got %v", err)
	}
}

// To plan an app does not change what was given.
func planChangesNothing(t *testing.T) {
	role := shRole("sh", 1, ":")
	before := role.Clone()
	if _, err := planned(t, newScheduler(t), nil, role); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(role, before) {
		t.Errorf("the role is %+v, was %+v", role, before)
	}
}
