package render

import (
	"testing"
	"time"
)

func TestCompletenessLine(t *testing.T) {
	today := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	noon := time.Date(2026, 11, 20, 12, 3, 1, 5, time.UTC)
	for name, tt := range map[string]struct {
		c    Completeness
		want string
	}{
		"nothing amiss":  {Completeness{AsOf: noon, Runs: 3}, "as of 12:03:01Z"},
		"everything":     {Completeness{AsOf: noon, Runs: 1000, Unreadable: 2, NoInputs: 14}, "as of 12:03:01Z; 2 records unreadable; 14 of 1,000 runs recorded no inputs"},
		"one":            {Completeness{AsOf: noon, Runs: 1, Unreadable: 1, NoInputs: 1}, "as of 12:03:01Z; 1 record unreadable; 1 of 1 run recorded no inputs"},
		"another day":    {Completeness{AsOf: noon.AddDate(0, 0, -1)}, "as of 2026-11-19T12:03:01Z"},
		"another zone":   {Completeness{AsOf: noon.In(time.FixedZone("", 7*3600))}, "as of 12:03:01Z"},
		"never":          {Completeness{NoInputs: 1, Runs: 1234567}, "as of an unknown time; 1 of 1,234,567 runs recorded no inputs"},
		"not in between": {Completeness{AsOf: noon, Runs: 100, NoInputs: 100}, "as of 12:03:01Z; 100 of 100 runs recorded no inputs"},
	} {
		if got := tt.c.line(today); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
