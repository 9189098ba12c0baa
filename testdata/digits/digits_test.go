package digits_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/testdata/digits"
)

func TestTheFileIsScikitLearns(t *testing.T) {
	const want = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"
	if got := digits.SHA256(); got != want {
		t.Errorf("SHA256() = %s, want %s", got, want)
	}
}

func TestLoad(t *testing.T) {
	all, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1797 {
		t.Fatalf("%d digits, want 1797", len(all))
	}
	var perLabel [digits.Classes]int
	for _, d := range all {
		perLabel[d.Label]++
	}
	if want := [digits.Classes]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; perLabel != want {
		t.Errorf("digits per label = %v, want %v", perLabel, want)
	}
	if first := all[0]; first.Label != 0 || first.Pixels[2] != 5 || first.Pixels[60] != 10 {
		t.Errorf("first digit = %v", first)
	}
}

func TestDecodeRefuses(t *testing.T) {
	row := func(pixel, label string) string {
		return strings.Repeat("0,", 63) + pixel + "," + label + "\n"
	}
	tests := []struct{ name, text, want string }{
		{"a pixel above 16", row("0", "1") + row("17", "1"), "row 2: pixel 63: 17 is above 16"},
		{"a label above 9", row("1", "10"), "label: 10 is above 9"},
		{"a word", row("ink", "1"), "invalid syntax"},
		{"a short row", "1,2,3\n", "wrong number of fields"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := digits.Decode(bytes.NewReader(zip(t, test.text)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Decode = %v, want %q", err, test.want)
			}
		})
	}
	if _, err := digits.Decode(strings.NewReader("plain")); err == nil {
		t.Error("Decode takes what is not gzipped")
	}
	whole := zip(t, row("1", "1"))
	if _, err := digits.Decode(bytes.NewReader(whole[:len(whole)-4])); err == nil {
		t.Error("Decode takes a file cut short")
	}
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	if _, err := zipped.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}
