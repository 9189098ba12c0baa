package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// foldTasks gives the state of an array: it has not ended while one task has not.
func foldTasks(states []runner.State) runner.State {
	for _, s := range []runner.State{tracker.Running, tracker.Pending, tracker.Submitted} {
		if slices.Contains(states, s) {
			return s
		}
	}
	return runner.FoldState(states)
}

// ofTask says of which task of an array the replicas are.
func ofTask(id string, roles []runner.RoleStatus) []runner.RoleStatus {
	for i := range roles {
		roles[i].Task = id
		for k := range roles[i].Replicas {
			roles[i].Replicas[k].Task = id
		}
	}
	return roles
}

// compareTasks orders tasks by their numbers; what waits as one, as "3-9%2", by the first.
func compareTasks(a, b string) int {
	number := func(id string) int {
		digits, _ := leading(strings.TrimPrefix(id, "["))
		n, _ := strconv.Atoi(digits)
		return n
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}

// countsText says how many tasks are in each state.
func countsText(counts map[runner.State]int) string {
	var parts []string
	for state, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(parts)
	return "tasks: " + strings.Join(parts, ", ")
}

// earlier is the earlier of two times, a zero one being none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
