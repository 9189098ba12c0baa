package local

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// A replica that takes more memory than its role asks for is killed, and any shell sees
// why; one that keeps to it is not. This needs the kernel's controllers.
func TestMemoryIsEnforced(t *testing.T) {
	if _, err := process.FindCgroups("", process.Limits{CPUs: 1, Memory: 1}); err != nil {
		servers.Missing(t, err, "run the tests in a delegated control group: systemd-run --user --scope -p Delegate=yes", "cgroup-limits")
	}
	s := newScheduler(t)
	role := shRole("a", 1, "head -c 200000000 /dev/zero | tail >/dev/null; echo survived")
	role.Resource.MemMB, role.Resource.CPU = 64, 1
	for _, enforced := range []bool{true, false} {
		plan, err := planned(t, s, runner.Config{"enforce_resources": enforced}, role)
		if err == nil {
			_, err = s.Submit(t.Context(), plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		status := waited(t, s, plan.Handle)
		one := status.Roles[0].Replicas[0]
		if !enforced && status.State != tracker.Succeeded {
			t.Errorf("not enforced: %+v", status)
		}
		if enforced && (status.State != tracker.Failed || one.Signal != "SIGKILL" || !strings.Contains(one.Reason, "out of memory") || !strings.Contains(one.Reason, "64 MB")) {
			t.Errorf("enforced: %+v", one)
		}
	}
}
