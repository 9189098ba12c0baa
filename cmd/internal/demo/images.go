package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/testdata/digits"
)

// labelColumn and rowColumn hold the digit and its row in the original file.
const (
	labelColumn = "target"
	rowColumn   = "row"
)

// pixelColumn names the column of the pixel at that row and column, as
// scikit-learn does.
func pixelColumn(row, column int) string { return fmt.Sprintf("pixel_%d_%d", row, column) }

// pixelColumns lists them row by row.
func pixelColumns() []string {
	var list []string
	for row := range digits.Side {
		for column := range digits.Side {
			list = append(list, pixelColumn(row, column))
		}
	}
	return list
}

// images is a set of pictures with their labels.
type images struct {
	values []float32 // [image][inputs], 0 blank to 1 inked
	labels []int
}

func (s *images) len() int { return len(s.labels) }

func (s *images) pixels(i int) []float32 { return s.values[i*inputs : (i+1)*inputs] }

// readImages reads a split out of the store, given as a key or a full URL.
func readImages(ctx context.Context, s *store.Store, dir string) (*images, error) {
	key, err := storeKey(s, dir)
	if err != nil {
		return nil, err
	}
	reader, err := dataset.Open(ctx, s, key)
	if err != nil {
		return nil, err
	}
	table, err := reader.ReadTable(ctx, append(pixelColumns(), labelColumn))
	if err != nil {
		return nil, err
	}
	set := &images{values: make([]float32, table.Rows()*inputs), labels: make([]int, table.Rows())}
	for c, column := range table {
		values, ok := column.Values.([]int32)
		if !ok {
			return nil, fmt.Errorf("read %s: column %s holds %T, not 32-bit integers", dir, column.Name, column.Values)
		}
		if err := set.fill(c, values); err != nil {
			return nil, fmt.Errorf("read %s: column %s: %w", dir, column.Name, err)
		}
	}
	return set, nil
}

// fill takes column number c, a pixel or, after the pixels, the label.
func (s *images) fill(c int, values []int32) error {
	for i, v := range values {
		if c < inputs {
			s.values[i*inputs+c] = float32(v) / digits.MaxPixel
			continue
		}
		if v < 0 || v >= classes {
			return fmt.Errorf("row %d has label %d", i, v)
		}
		s.labels[i] = int(v)
	}
	return nil
}

// augment copies the images, and moves that share of them by one pixel in a
// direction drawn at random.
func (s *images) augment(share float64, r *rand.Rand) *images {
	out := &images{values: make([]float32, len(s.values)), labels: s.labels}
	for i := range s.len() {
		if r.Float64() < share {
			shift(out.pixels(i), s.pixels(i), r.IntN(4))
			continue
		}
		copy(out.pixels(i), s.pixels(i))
	}
	return out
}

// shift copies image to out, which is blank, moved by one pixel: 0 up, 1 down,
// 2 left, 3 right. What leaves the picture is lost.
func shift(out, image []float32, direction int) {
	down := [...]int{-1, 1, 0, 0}[direction]
	right := [...]int{0, 0, -1, 1}[direction]
	for row := max(0, -down); row < digits.Side-max(0, down); row++ {
		for column := max(0, -right); column < digits.Side-max(0, right); column++ {
			out[(row+down)*digits.Side+column+right] = image[row*digits.Side+column]
		}
	}
}
