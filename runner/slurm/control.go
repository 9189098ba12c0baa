package slurm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// order is what the batch script tells all tasks of an attempt, by a file in the
// attempt's directory: signals of ours would have to go through Slurm, which knows
// no grace time of an app.
type order struct {
	Signal string        `json:"signal"`             // "SIGTERM" ends the replica; others are passed on
	Grace  time.Duration `json:"grace_ns,omitempty"` // from SIGTERM to SIGKILL; 0 = as planned
}

const orderStart = "order-"

// giveOrder writes the order of that number.
func (d jobDir) giveOrder(attempt, number int, o order) error {
	return writeJSON(filepath.Join(d.attemptDir(attempt), fmt.Sprintf("%s%06d.json", orderStart, number)), o)
}

// orders reads those from the seen-th on.
func (d jobDir) orders(attempt, seen int) []order {
	entries, err := os.ReadDir(d.attemptDir(attempt))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), orderStart) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	var list []order
	for _, name := range names[min(seen, len(names)):] {
		body, err := os.ReadFile(filepath.Join(d.attemptDir(attempt), name))
		var o order
		if err != nil || json.Unmarshal(body, &o) != nil {
			break // it will be read the next time
		}
		list = append(list, o)
	}
	return list
}
