package runner

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker"
)

func TestLastMetrics(t *testing.T) {
	tests := []struct {
		name, text, want string
		bad              int
	}{
		{"empty", "", `{}`, 0},
		{"last wins", `{"step": 1, "loss": 0.5, "acc": 1}` + "\n" + `{"step": 2, "loss": 0.25}` + "\n", `{"loss": 0.25, "acc": 1}`, 0},
		{"no end of line", `{"loss": 1}`, `{"loss": 1}`, 0},
		{"torn last line", `{"loss": 1}` + "\n" + `{"loss": 0.`, `{"loss": 1}`, 0},
		{"bad lines", "oops\n[1]\n" + `{"loss": 1}` + "\n3\n", `{"loss": 1}`, 3},
		{"blank lines", "\n  \n" + `{"loss": 1}` + "\r\n", `{"loss": 1}`, 0},
		{"not finite", `{"loss": NaN, "x": -Infinity}` + "\n", `{"loss": NaN, "x": -Infinity}`, 0},
		{"not a number", `{"loss": "low", "ok": true, "n": null, "l": [1]}` + "\n", `{}`, 0},
		{"nested", `{"val": {"loss": 1, "step": 2}}` + "\n", `{"val.loss": 1, "val.step": 2}`, 0},
		{"big", `{"n": 123456789012345678901234567890}` + "\n", `{"n": 123456789012345678901234567890}`, 0},
		{"over-long line", `{"a": "` + strings.Repeat("x", 2<<20) + `", "loss": 2}` + "\n" + `{"loss": 1}` + "\n", `{"loss": 1}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last, bad, err := lastMetrics(strings.NewReader(tt.text), tracker.ReadMetrics)
			if got := jsonOf(last); err != nil || got != tt.want || bad != tt.bad {
				t.Errorf("got %s, %d bad, %v; want %s, %d bad", got, bad, err, tt.want, tt.bad)
			}
		})
	}
}

func FuzzLastMetrics(f *testing.F) {
	f.Add(`{"step": 1, "loss": 0.5}` + "\n")
	f.Add("\xff{\n{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		last, bad, err := lastMetrics(strings.NewReader(text), tracker.ReadMetrics)
		if err != nil || bad > strings.Count(text, "\n") {
			t.Errorf("%d bad lines, %v", bad, err)
		}
		for name := range last.All() {
			if clean(name) == "" {
				t.Errorf("name %q", name)
			}
		}
	})
}
