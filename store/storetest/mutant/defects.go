package mutant

import (
	"slices"
	"strings"

	"gocloud.dev/blob/driver"
)

func creating() []Mutant {
	return []Mutant{
		{"create looks first and writes then", func(m *mutant) { m.racyCreate = true }},
		{"create overwrites", func(m *mutant) { m.blindCreate = true }},
		{"keys are not told apart by case", func(m *mutant) { m.key = strings.ToLower }},
		{"keys lose blanks at their end", func(m *mutant) { m.key = func(k string) string { return strings.TrimRight(k, " .") } }},
		{"delete does nothing", func(m *mutant) { m.noDelete = true }},
		{"delete of nothing succeeds", func(m *mutant) { m.mildDelete = true }},
	}
}

// paged changes every page of a listing.
func paged(change func(list []*driver.ListObject, first bool) []*driver.ListObject) func(*mutant) {
	return func(m *mutant) { m.page = change }
}

func listing() []Mutant {
	return []Mutant{
		{"a list drops an entry of the second page", paged(func(list []*driver.ListObject, first bool) []*driver.ListObject {
			if !first && len(list) > 1 {
				return list[1:]
			}
			return list
		})},
		{"a list drops its last entry", paged(func(list []*driver.ListObject, _ bool) []*driver.ListObject { return list[:max(len(list)-1, 0)] })},
		{"a list is not sorted", paged(func(list []*driver.ListObject, _ bool) []*driver.ListObject { slices.Reverse(list); return list })},
		{"a list tells wrong sizes", paged(func(list []*driver.ListObject, _ bool) []*driver.ListObject {
			for _, o := range list {
				o.Size++
			}
			return list
		})},
		{"a list repeats an entry", paged(func(list []*driver.ListObject, _ bool) []*driver.ListObject {
			if len(list) > 2 {
				return slices.Insert(list, 1, list[0])
			}
			return list
		})},
		{"a list shows what is being written", func(m *mutant) { m.listsTemps = true }},
		{"a list does not show the last write yet", func(m *mutant) { m.staleList = true }},
		{"a list still shows what was deleted", func(m *mutant) { m.listsDeleted = true }},
		{"a list ends quietly where its second request fails", func(m *mutant) { m.swallowsListError = true }},
	}
}

func reading() []Mutant {
	return []Mutant{
		{"a read ends early, with the size of what it gave", func(m *mutant) { m.read = func(b []byte) []byte { return b[:len(b)-len(b)/50] } }},
		{"a read ends early, with the right size", func(m *mutant) { m.cuts = true }},
		{"a read flips a bit of long objects", func(m *mutant) {
			m.read = func(b []byte) []byte {
				if len(b) > 10_000 {
					b[5000] ^= 1
				}
				return b
			}
		}},
		{"a reader tells a wrong size", func(m *mutant) { m.size = func(n int64) int64 { return n + 1 } }},
		{"a range begins one byte late", func(m *mutant) { m.span = lateRange }},
		{"a range from another part of the object comes", func(m *mutant) { m.span = otherRange }},
		{"refused access reads as absence", func(m *mutant) { m.refuses = true }},
		{"absence reads as an unknown error", func(m *mutant) { m.hidesAbsence = true }},
		{"a version stays the same when the bytes change", func(m *mutant) { m.constantVersion = true }},
	}
}

// lateRange is off by one.
func lateRange(offset, length int64) (int64, int64) {
	if offset > 0 {
		offset++
	}
	return offset, length
}

// otherRange is the one before that asked for, of the same length.
func otherRange(offset, length int64) (int64, int64) {
	if length > 0 && offset >= length {
		offset -= length
	}
	return offset, length
}

func writing() []Mutant {
	return []Mutant{
		{"a write that failed stays visible", func(m *mutant) { m.keepsBroken = true }},
		{"a long write is cut", func(m *mutant) { m.write = func(b []byte) []byte { return b[:min(len(b), 1<<20)] } }},
		{"a long write is visible before its end", func(m *mutant) { m.showsPartial = true }},
		{"a long write loses a part in its middle", func(m *mutant) { m.write = losesMiddle }},
		{"a write is acknowledged and lost", func(m *mutant) { m.forgetful = true }},
	}
}

func losesMiddle(b []byte) []byte {
	if len(b) < 6<<20 {
		return b
	}
	return slices.Concat(b[:2<<20], b[3<<20:])
}
