// Package digits holds the UCI handwritten digits: 1,797 labelled images of 8 by 8 pixels.
//
// Source, authors and licence (CC BY 4.0) are stated in README.md beside this file.
package digits

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Side is the width and the height of an image, in pixels.
const Side = 8

// MaxPixel is the value of a fully inked pixel; 0 is blank.
const MaxPixel = 16

// Classes is the number of labels, 0 to 9.
const Classes = 10

//go:embed digits.csv.gz
var archive []byte

// Digit is one image and the digit it shows.
type Digit struct {
	Pixels [Side * Side]uint8 // 0 to MaxPixel, row by row
	Label  uint8              // 0 to 9
}

// SHA256 returns the digest of the embedded file, 64 lower-case hexadecimal digits.
func SHA256() string {
	sum := sha256.Sum256(archive)
	return hex.EncodeToString(sum[:])
}

// Load decodes the embedded file. The order is that of the file.
func Load() ([]Digit, error) {
	return Decode(bytes.NewReader(archive))
}

// Decode reads a gzipped CSV of 65 integers a line: 64 pixels, then the label.
func Decode(r io.Reader) ([]Digit, error) {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("open digits: %w", err)
	}
	rows := csv.NewReader(zipped)
	rows.FieldsPerRecord = Side*Side + 1
	rows.ReuseRecord = true
	var all []Digit
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read digits: %w", err)
		}
		digit, err := parse(row)
		if err != nil {
			return nil, fmt.Errorf("read digits: row %d: %w", len(all)+1, err)
		}
		all = append(all, digit)
	}
}

// parse turns one row, already of the right length, into a digit.
func parse(row []string) (Digit, error) {
	var d Digit
	for i := range d.Pixels {
		value, err := bounded(row[i], MaxPixel)
		if err != nil {
			return Digit{}, fmt.Errorf("pixel %d: %w", i, err)
		}
		d.Pixels[i] = value
	}
	label, err := bounded(row[Side*Side], Classes-1)
	if err != nil {
		return Digit{}, fmt.Errorf("label: %w", err)
	}
	d.Label = label
	return d, nil
}

func bounded(text string, most uint8) (uint8, error) {
	value, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return 0, err
	}
	if value > uint64(most) {
		return 0, fmt.Errorf("%d is above %d", value, most)
	}
	return uint8(value), nil
}
