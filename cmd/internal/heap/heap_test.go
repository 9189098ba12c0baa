package heap

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
)

// In a process of its own, since other tests leave garbage.
func TestFloorEndsWithTheFirstCollection(t *testing.T) {
	if os.Getenv("HEIRLOOM_TEST_HEAP") == "" {
		for gogc, want := range map[string]string{"": "1600 then 100", "250": "250 then 250"} {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFloorEndsWithTheFirstCollection$", "-test.v")
			c.Env = append(os.Environ(), "HEIRLOOM_TEST_HEAP=1", "GOGC="+gogc)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("with GOGC=%s: %v, want %s\n%s", gogc, err, want, out)
			}
		}
		return
	}
	found := gogc()
	runtime.GC()
	for found == percent && gogc() == found { // what the collection found runs beside this
		runtime.Gosched()
	}
	t.Logf("%d then %d", found, gogc())
}

func gogc() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
