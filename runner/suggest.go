package runner

import "strings"

// suggest adds to an error which of the names may have been meant; it is empty
// where none is near.
func suggest(given string, names []string) string {
	best, least := "", len(given)/3+2 // so many slips of the pen are too many
	for _, name := range names {
		d := Slips(strings.ToLower(given), strings.ToLower(name))
		if d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// Slips counts the letters to insert, delete or replace to make b of a: how far a name is
// from what may have been meant.
func Slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(before+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
