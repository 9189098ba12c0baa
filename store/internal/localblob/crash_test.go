package localblob

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree/dirtreetest"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// TestKilledWriter kills a writing process at a random moment, again and again on the same directory. Whatever
// it acknowledged is there and whole, nothing half-written is visible, and nothing temporary is listed.
func TestKilledWriter(t *testing.T) {
	for round := range rounds(400) {
		b := openTest(t, t.TempDir())
		acked := killedLoop(t, b.Dir())
		checkAfterKill(t, b, acked)
		if t.Failed() {
			t.Fatalf("in round %d, %d acknowledged", round, acked)
		}
	}
}

// killedLoop returns how many rounds of the loop were acknowledged before the end.
func killedLoop(t *testing.T, dir string) int {
	t.Helper()
	lines := dirtreetest.Kill(t, helperCommand(t, dir, "loop"), 40*time.Millisecond)
	for i, line := range lines {
		if line != strconv.Itoa(i) {
			t.Fatalf("acknowledgement %q, want %d", line, i)
		}
	}
	return len(lines)
}

func checkAfterKill(t *testing.T, b *Bucket, acked int) {
	t.Helper()
	seen := map[string]int{}
	for _, key := range keysOf(t, b, "") {
		body, err := os.ReadFile(b.Path(key))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(key, "lines/") {
			for line := range strings.Lines(string(body)) {
				seen["line "+strings.TrimSuffix(line, "\n")]++
			}
			continue
		}
		number, whole := numberOf(body)
		if !whole {
			t.Errorf("%s is not whole: %d bytes", key, len(body))
		}
		seen[key] = number
	}
	for i := range acked {
		if n, ok := seen["dir-"+strconv.Itoa(i%5)+"/new/"+strconv.Itoa(i)]; !ok || n != i {
			t.Errorf("object %d was acknowledged and is not there", i)
		}
		if seen["line "+strconv.Itoa(i)] != 1 {
			t.Errorf("line %d was acknowledged and is there %d times", i, seen["line "+strconv.Itoa(i)])
		}
	}
	if acked > 0 && seen["over/written"] < acked-1 {
		t.Errorf("number %d was acknowledged, %d is there", acked-1, seen["over/written"])
	}
}

func TestSweepRemovesOldTempsOnly(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "k")
	now := time.Now()
	for name, age := range map[string]time.Duration{
		keyname.TempStart + "old" + keyname.TempEnd: 2 * sweepAge, keyname.TempStart + "new" + keyname.TempEnd: 0, "k": 2 * sweepAge,
		uploadName("0a"): uploadAge - time.Hour, uploadName("0b"): uploadAge + time.Hour, uploadName("0c"): 2 * sweepAge,
	} {
		full := b.Dir() + "/" + name
		if err := os.WriteFile(full, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	other := openTest(t, b.Dir())
	put(t, other, "first write sweeps")
	if got := keysOf(t, b, ""); len(got) != 2 {
		t.Errorf("keys %q", got)
	}
	for name, stays := range map[string]bool{
		keyname.TempStart + "old" + keyname.TempEnd: false, keyname.TempStart + "new" + keyname.TempEnd: true,
		uploadName("0a"): true, uploadName("0b"): false, uploadName("0c"): true,
	} {
		if _, err := os.Stat(b.Dir() + "/" + name); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
	if n, err := b.Sweep(t.Context(), 0); n != 3 || err != nil {
		t.Errorf("Sweep removed %d, %v, want the young ones", n, err)
	}
}
