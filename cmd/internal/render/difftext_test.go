package render

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
)

// Values that are too long, or too near each other, to differ in what a line shows of them are shown from where they do.
func TestDifferingValuesLookDifferent(t *testing.T) {
	long := strings.Repeat("python train.py ", 5)
	for _, test := range []struct {
		name, wantA, wantB string
		a, b               any
	}{
		{"short", "1", "2", int64(1), int64(2)},
		{"long and different at once", "a" + long[:46] + "…", "b" + long[:46] + "…", "a" + long, "b" + long},
		{"long and the same at first", "…n.py --lr 0.1", "…n.py --lr 0.25", strings.TrimSpace(long) + " --lr 0.1", strings.TrimSpace(long) + " --lr 0.25"},
		{"one goes on", "…in.py --seed", "…in.py --seed 7", long + "--seed", long + "--seed 7"},
		{"floats to six digits", "0.12345678", "0.12345679", 0.12345678, 0.12345679},
	} {
		got := valueTexts(lineage.Change{A: test.a, HasA: true, B: test.b, HasB: true})
		if got != [2]string{test.wantA, test.wantB} {
			t.Errorf("%s: %q, want %q and %q", test.name, got, test.wantA, test.wantB)
		}
	}
}
