package render_test

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestFactsBesideARun(t *testing.T) {
	tests := []struct {
		name    string
		metrics *pyjson.Object
		want    string
	}{
		{"none", meta("params.acc", 1.0), "-"},
		{"test before validation", meta("metrics.val_accuracy", 0.5, "metrics.test_accuracy", 0.981413, "metrics.test_loss", 0.25), "test_accuracy 0.9814  test_loss 0.25"},
		{"accuracy before loss", meta("metrics.loss", 2.0, "metrics.accuracy", 0.75, "metrics.steps", int64(7)), "accuracy 0.75  loss 2"},
		{"a variant stands back", meta("metrics.best_val_accuracy", 0.98, "metrics.val_accuracy", 0.97, "metrics.val_loss", 1e-7), "val_accuracy 0.97  val_loss 1e-07"},
		{"two shares", meta("metrics.f1", 0.5, "metrics.auc", 0.25), "f1 0.5  auc 0.25"},
		{"what is no number", meta("metrics.acc", "high", "metrics.loss", math.NaN(), "metrics.rows", big.NewInt(12)), "rows 12"},
		{"large", meta("metrics.rows", int64(123456789), "metrics.tokens", 1.23456789e9), "rows 123456789  tokens 1235000000"},
		{"hostile", meta("metrics.\x1b[2J", 1.0), `\x1b[2J 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			l := render.Runs([]*tracker.Run{{ID: "r", State: tracker.Running, Metadata: tt.metrics}})
			if err := l.Write(&out, render.Table, render.Style{}); err != nil {
				t.Fatal(err)
			}
			_, row, _ := strings.Cut(out.String(), "\n")
			if !strings.Contains(row, "  "+tt.want+"  ") {
				t.Errorf("row %q, want %q in it", row, tt.want)
			}
		})
	}
}
