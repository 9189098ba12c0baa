package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The metadata of a run keep what an earlier attempt left there; how a run ended is what its last attempt says.
func TestEndOfTheLastAttempt(t *testing.T) {
	code := 3
	tests := []struct {
		name     string
		attempts []tracker.Attempt
		want     string
	}{
		{"none", nil, "exit code 0 signal SIGINT"},
		{"runs", []tracker.Attempt{{Number: 1}}, ""},
		{"exited", []tracker.Attempt{{Number: 1, End: &tracker.AttemptEnd{ExitCode: &code}}}, "exit code 3"},
		{"killed", []tracker.Attempt{{Number: 1, End: &tracker.AttemptEnd{Signal: "SIGSEGV"}}}, "signal SIGSEGV"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run("local://torchx/x", "FAILED", 0, meta(tracker.KeyExitCode, int64(0), tracker.KeySignal, "SIGINT"))
			r.Attempts = tt.attempts
			var out bytes.Buffer
			if err := render.Show(&out, r, nil, render.Table, render.Style{}); err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(out.String(), "\n\n")
			_, head, _ = strings.Cut(head, "12Z")
			if got := strings.Join(strings.Fields(head), " "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
