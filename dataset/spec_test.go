package dataset_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

func fullSpec() dataset.Spec {
	return dataset.Spec{
		Sources: []dataset.Source{
			{URI: "s3://b/a.csv", Digest: "ab"},
			{URI: "s3://b/b.csv", Version: "v7"},
		},
		Features: []string{"x", "größe"}, Labels: []string{"y"},
		Options: map[string]string{"recipe": "2", "limit": "10"},
		Split:   dataset.Split{Val: 0.1, Test: 0.05, Stratify: "y"},
		Seed:    42,
	}
}

// TestFingerprintEncoding holds the encoding fixed: datasets in stores depend on it.
func TestFingerprintEncoding(t *testing.T) {
	tests := []struct {
		name, encoded string
		spec          dataset.Spec
	}{
		{"least", "18:heirloom.dataset/1,7:sources,1:3,1:u,0:,1:1,4:seed,1:1,1:0,",
			dataset.Spec{Sources: []dataset.Source{{URI: "u", Version: "1"}}}},
		{"full", "18:heirloom.dataset/1," +
			"7:sources,1:6,12:s3://b/a.csv,2:ab,0:,12:s3://b/b.csv,0:,2:v7," +
			"8:features,1:2,1:x,7:größe,6:labels,1:1,1:y," +
			"7:options,1:4,5:limit,2:10,6:recipe,1:2," +
			"9:split.val,1:1,3:0.1,10:split.test,1:1,4:0.05,14:split.stratify,1:1,1:y," +
			"4:seed,1:1,2:42,", fullSpec()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sum := sha256.Sum256([]byte(test.encoded))
			got, err := test.spec.Fingerprint()
			if want := hex.EncodeToString(sum[:]); err != nil || string(got) != want {
				t.Errorf("Fingerprint = %s, %v; want %s", got, err, want)
			}
		})
	}
}

// TestFingerprintSeesEverything changes one thing at a time.
func TestFingerprintSeesEverything(t *testing.T) {
	seen := map[store.Digest]string{}
	check := func(name string, spec dataset.Spec) {
		fingerprint, err := spec.Fingerprint()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := seen[fingerprint]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[fingerprint] = name
	}
	check("the spec", fullSpec())
	for name, change := range map[string]func(s *dataset.Spec){
		"source order":   func(s *dataset.Spec) { s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0] },
		"a digest":       func(s *dataset.Spec) { s.Sources[0].Digest = "ac" },
		"a version":      func(s *dataset.Spec) { s.Sources[1].Version = "v8" },
		"a URI":          func(s *dataset.Spec) { s.Sources[1].URI += "x" },
		"a feature more": func(s *dataset.Spec) { s.Features = append(s.Features, "z") },
		"feature order":  func(s *dataset.Spec) { s.Features[0], s.Features[1] = s.Features[1], s.Features[0] },
		"another label":  func(s *dataset.Spec) { s.Labels[0] = "z" },
		"feature as label": func(s *dataset.Spec) {
			s.Labels, s.Features = append(s.Labels, "größe"), s.Features[:1]
		},
		"an option":       func(s *dataset.Spec) { s.Options["limit"] = "11" },
		"val":             func(s *dataset.Spec) { s.Split.Val = math.Nextafter(0.1, 1) },
		"test":            func(s *dataset.Spec) { s.Split.Test = 0 },
		"column for val":  func(s *dataset.Spec) { s.Split.Val, s.Split.Column = 0, "v" },
		"not stratified":  func(s *dataset.Spec) { s.Split.Stratify = "" },
		"the seed":        func(s *dataset.Spec) { s.Seed++ },
		"no options left": func(s *dataset.Spec) { s.Options = nil },
	} {
		spec := fullSpec()
		change(&spec)
		check(name, spec)
	}
}

func TestFingerprintRefuses(t *testing.T) {
	for name, change := range map[string]func(s *dataset.Spec){
		"no source":                 func(s *dataset.Spec) { s.Sources = nil },
		"a source without URI":      func(s *dataset.Spec) { s.Sources[0].URI = "" },
		"a source of unknown bytes": func(s *dataset.Spec) { s.Sources[0].Digest = "" },
		"a column twice":            func(s *dataset.Spec) { s.Labels[0] = "x" },
		"an empty column":           func(s *dataset.Spec) { s.Labels[0] = "" },
		"a fraction of 1":           func(s *dataset.Spec) { s.Split.Val = 1 },
		"a fraction below 0":        func(s *dataset.Spec) { s.Split.Test = -0.1 },
		"a fraction of NaN":         func(s *dataset.Spec) { s.Split.Test = math.NaN() },
		"nothing for training":      func(s *dataset.Spec) { s.Split.Val, s.Split.Test = 0.5, 0.5 },
		"validation given twice":    func(s *dataset.Spec) { s.Split.Column = "v" },
	} {
		spec := fullSpec()
		change(&spec)
		if _, err := spec.Fingerprint(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
