package dataset

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// Parquet's footers say -0 for a least value of 0; people are shown 0.
func TestBoundOfZeroHasNoSign(t *testing.T) {
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		s := statsSum{kind: kind, floats: [2]float64{math.Copysign(0, -1), 1}}
		if got := s.text(0) + " " + s.text(1); got != "0 1" {
			t.Errorf("%s: bounds %s, want 0 1", kind, got)
		}
	}
}
