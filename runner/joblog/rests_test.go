package joblog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
)

// Where who wrote combined.log was killed, its readers get what it lacks from the other
// two, each line once; while it is written they get what is there.
func TestCombinedLogThatLacksLines(t *testing.T) {
	dir := t.TempDir()
	write := func(attempt int, name, text string) {
		file := filepath.Join(dir, "a", "0", fmt.Sprint(attempt), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for attempt := 1; attempt <= 2; attempt++ {
		write(attempt, "stdout.log", "o1\no2\no3\nno end")
		write(attempt, "stderr.log", "e1\ne2\n")
		write(attempt, "combined.log", "e1\no1\no2\no")
		write(attempt, "combined.part", "6 3 3\n")
	}
	read := func(query runner.LogQuery, ended func() bool) (lines []string) {
		app := &runner.App{Roles: []runner.Role{{Name: "a", NumReplicas: 1}}}
		for line, err := range joblog.Read(t.Context(), joblog.Tree{Dir: dir, App: app, Ended: ended}, query) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(line.Attempt, " ", line.Text))
		}
		return lines
	}
	first := []string{"1 e1\n", "1 o1\n", "1 o2\n", "1 o3\n", "1 no end", "1 e2\n"}
	second := []string{"2 e1\n", "2 o1\n", "2 o2\n", "2 o3\n", "2 no end", "2 e2\n"}
	for _, tail := range []bool{false, true} {
		if got, want := read(runner.LogQuery{Tail: tail}, nil), append(slices.Clone(first), second...); !slices.Equal(got, want) {
			t.Errorf("after the end, tail %t: got %q, want %q", tail, got, want)
		}
	}
	alive := func() bool { return false }
	if got, want := read(runner.LogQuery{}, alive), append(slices.Clone(first), "2 e1\n", "2 o1\n", "2 o2\n", "2 o"); !slices.Equal(got, want) {
		t.Errorf("while it is written: got %q, want %q", got, want)
	}
	if got, want := read(runner.LogQuery{Stream: runner.Stdout, Attempt: 1}, nil), []string{"1 o1\n", "1 o2\n", "1 o3\n", "1 no end"}; !slices.Equal(got, want) {
		t.Errorf("of stdout: got %q, want %q", got, want)
	}
}
