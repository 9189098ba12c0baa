package localblob

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLinesOfALongFile has others change a file whose lines this process knows by heart.
func TestLinesOfALongFile(t *testing.T) {
	var many strings.Builder
	for i := range 2 * lineSetMin / 8 {
		fmt.Fprintf(&many, "old-%04d\n", i)
	}
	for name, tt := range map[string]struct {
		change func(body string) string
		want   string // after the change and an append of old-0001, old-0002 and new
	}{
		"nothing":                  {func(body string) string { return body }, many.String() + "new\n"},
		"a line more":              {func(body string) string { return body + "new\n" }, many.String() + "new\n"},
		"a torn line":              {func(body string) string { return body + "ne" }, many.String() + "ne\nnew\n"},
		"truncated":                {func(string) string { return "last\n" }, "last\nold-0001\nold-0002\nnew\n"},
		"truncated and grown":      {func(body string) string { return strings.ReplaceAll(body, "old", "bold") }, strings.ReplaceAll(many.String(), "old", "bold") + "old-0001\nold-0002\nnew\n"},
		"truncated within a line":  {func(body string) string { return body[:len(body)-3] }, many.String()[:many.Len()-3] + "\nnew\n"},
		"emptied":                  {func(string) string { return "" }, "old-0001\nold-0002\nnew\n"},
		"the same size, but other": {func(body string) string { return strings.ReplaceAll(body, "old", "odd") }, strings.ReplaceAll(many.String(), "old", "odd") + "old-0001\nold-0002\nnew\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openTest(t, t.TempDir())
			if err := b.AppendLines(t.Context(), "k", strings.Split(strings.TrimSuffix(many.String(), "\n"), "\n")); err != nil {
				t.Fatal(err)
			}
			if err := b.AppendLines(t.Context(), "k", []string{"old-0001"}); err != nil || b.lineSets["k"] == nil {
				t.Fatalf("lines are not remembered: %v", err)
			}
			// As TorchX does: in place, without a lock.
			if err := os.WriteFile(b.Path("k"), []byte(tt.change(many.String())), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := b.AppendLines(t.Context(), "k", []string{"old-0001", "old-0002", "new"}); err != nil {
					t.Fatal(err)
				}
				if got := readLines(t, b, "k"); !slices.Equal(got, strings.Split(strings.TrimSuffix(tt.want, "\n"), "\n")) {
					t.Errorf("ends in %q", got[max(0, len(got)-5):])
				}
			}
		})
	}
}

// TestLinesRememberedAreBounded counts the bytes of the files, not their number.
func TestLinesRememberedAreBounded(t *testing.T) {
	b := openTest(t, t.TempDir())
	for i := range 20 {
		b.remember(fmt.Sprint(i), &lineSet{size: lineSetsMax / 8})
		sum := int64(0)
		for _, s := range b.lineSets {
			sum += s.size
		}
		if sum > lineSetsMax || b.lineSets[fmt.Sprint(i)] == nil {
			t.Errorf("after %d files %d bytes are remembered", i+1, sum)
		}
	}
	b.remember("19", &lineSet{size: lineSetMin - 1})
	if b.lineSets["19"] != nil {
		t.Error("a file that became short is remembered")
	}
}

// TestLinesOnDiskAreNotFlushedAgain counts flushes of a long file: a line that this process has seen on disk costs none,
// one that another process has written since does.
func TestLinesOnDiskAreNotFlushedAgain(t *testing.T) {
	b := openTest(t, t.TempDir())
	other := openTest(t, b.Dir())
	flushes := 0
	b.sys.syncFile = func(f *os.File) error { flushes++; return f.Sync() }
	var many []string
	for i := range lineSetMin / 4 {
		many = append(many, fmt.Sprintf("line-%04d", i))
	}
	if err := b.AppendLines(t.Context(), "k", many); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"the first look", many[:1], 1},
		{"seen on disk", many[:2], 0},
		{"a new one", []string{"new"}, 1},
		{"the same again", []string{"new"}, 0},
		{"one of another process", []string{"theirs"}, 1},
		{"and again", []string{"theirs", "new"}, 0},
	} {
		if tt.lines[0] == "theirs" && tt.want > 0 {
			if err := other.AppendLines(t.Context(), "k", tt.lines); err != nil {
				t.Fatal(err)
			}
		}
		flushes = 0
		if err := b.AppendLines(t.Context(), "k", tt.lines); err != nil {
			t.Fatal(err)
		}
		if flushes != tt.want {
			t.Errorf("%s: %d flushes, want %d", tt.name, flushes, tt.want)
		}
	}
}
