package tracker

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// TestCompareRecords sorts names from every order into one.
func TestCompareRecords(t *testing.T) {
	want := []store.Key{"999", "00001000-a", "1000", "1000-a", "1000-b", "1001", "10000"}
	list := make([]record, len(want))
	for i, key := range want {
		digits, ok := recordDigits(string(key))
		if !ok {
			t.Fatalf("%s is no name of a record", key)
		}
		list[i] = record{key: key, digits: digits}
	}
	for range len(list) {
		list = append(list[1:], list[0])
		for _, shuffled := range [][]record{slices.Clone(list), reversed(list)} {
			slices.SortFunc(shuffled, compareRecords)
			for i, r := range shuffled {
				if r.key != want[i] {
					t.Fatalf("%s comes at %d in %v", r.key, i, shuffled)
				}
			}
		}
	}
}

func reversed(list []record) []record {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// TestClockIsTheProcess names records of one tracker after those of another,
// even where the clock was set back in between.
func TestClockIsTheProcess(t *testing.T) {
	ahead := NewFileTracker(nil, nil).clock.next(time.Now().Add(time.Second))
	name, err := NewFileTracker(nil, nil).recordName()
	if err != nil {
		t.Fatal(err)
	}
	if digits, ok := recordDigits(name); !ok || digits <= strconv.FormatInt(ahead, 10) {
		t.Errorf("%s does not come after %d", name, ahead)
	}
}
