package localblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

func readLines(t *testing.T, b *Bucket, key string) []string {
	t.Helper()
	body, err := os.ReadFile(b.Path(key))
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > 0 && body[len(body)-1] != '\n' {
		t.Errorf("%s ends in a torn line", key)
	}
	return strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
}

func TestAppendLines(t *testing.T) {
	for _, tt := range []struct {
		name, before string // "-" = no file
		lines        []string
		want         string
	}{
		{"new file", "-", []string{"a", "", "a", "b"}, "a\n\nb\n"},
		{"no lines", "-", nil, ""},
		{"empty file", "", []string{""}, "\n"},
		{"all there", "a\nb\n", []string{"b", "a"}, "a\nb\n"},
		{"some there", "a\n", []string{"b", "a", "c"}, "a\nb\nc\n"},
		{"torn and wanted", "a\nb", []string{"b"}, "a\nb\n"},
		{"torn and other", "a\nb", []string{"bc"}, "a\nb\nbc\n"},
		{"part of a line is none", "abc\n", []string{"ab"}, "abc\nab\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := openTest(t, t.TempDir())
			if tt.before != "-" {
				if err := os.WriteFile(b.Path("k"), []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := b.AppendLines(t.Context(), "k", tt.lines); err != nil {
					t.Fatal(err)
				}
				if body, err := os.ReadFile(b.Path("k")); err != nil || string(body) != tt.want {
					t.Errorf("%q, %v, want %q", body, err, tt.want)
				}
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "d/k")
	for line, key := range map[string]string{"a\nb": "k", "a\rb": "k"} {
		if err := b.AppendLines(t.Context(), key, []string{line}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("line %q: %v", line, err)
		}
	}
	if err := b.AppendLines(t.Context(), "d", []string{"a"}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	if err := b.AppendLines(t.Context(), "d/k/x", []string{"a"}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below an object: %v", err)
	}
}

func TestAppendKeepsTheFile(t *testing.T) {
	b := openTest(t, t.TempDir())
	if err := b.AppendLines(t.Context(), "k", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	// Another program has the file open for appending and knows nothing of locks, as TorchX.
	other, err := os.OpenFile(b.Path("k"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := b.AppendLines(t.Context(), "k", []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.WriteString("c\n"); err != nil {
		t.Fatal(err)
	}
	if got := readLines(t, b, "k"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("lines %q", got)
	}
}

func TestShortAppendIsTakenBack(t *testing.T) {
	b := openTest(t, t.TempDir())
	if err := os.WriteFile(b.Path("k"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.sys.write = func(f *os.File, p []byte) (int, error) {
		n, err := f.Write(p[:len(p)/2])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	if err := b.AppendLines(t.Context(), "k", []string{"long line"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if body, err := os.ReadFile(b.Path("k")); err != nil || string(body) != "a\n" {
		t.Errorf("left %q, %v", body, err)
	}
}

// TestAppendRace has goroutines of this process and of others extend one file that none of them has seen.
func TestAppendRace(t *testing.T) {
	b := openTest(t, t.TempDir())
	var group sync.WaitGroup
	for i := range 3 {
		cmd := helperCommand(t, b.Dir(), fmt.Sprintf("append process-%d", i))
		group.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 8 {
		group.Go(func() {
			if err := appendMany(t.Context(), b, fmt.Sprintf("goroutine-%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := readLines(t, b, "shared/lines")
	slices.Sort(got)
	if want := 1100; len(got) != want || len(slices.Compact(got)) != want {
		t.Errorf("%d lines, %d different, want %d", len(got), len(slices.Compact(got)), want)
	}
	wantNoTemps(t, b)
}

func TestAppendWaitsNoLongerThanItsContext(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "k")
	holder, err := os.Open(b.Path("k"))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if ok, err := filelock.Try(holder); !ok || err != nil {
		t.Fatalf("lock: %v, %v", ok, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.AppendLines(ctx, "k", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if len(b.locks) != 0 {
		t.Errorf("%d locks are kept", len(b.locks))
	}
}

// TestAppendToReplacedFile replaces the file while an appender waits for its lock: the line goes into the new one.
func TestAppendToReplacedFile(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "k")
	holder, err := os.Open(b.Path("k"))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.Try(holder); !ok || err != nil {
		t.Fatalf("lock: %v, %v", ok, err)
	}
	b.sys.write = func(f *os.File, p []byte) (int, error) {
		if there, err := os.Stat(b.Path("k")); err == nil {
			if mine, err := f.Stat(); err == nil && !keyname.IsTemp(strings.TrimPrefix(f.Name(), b.Dir()+"/")) && !os.SameFile(mine, there) {
				t.Error("a line was written to a file that has no name any more")
			}
		}
		return f.Write(p)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := b.AppendLines(t.Context(), "k", []string{"line"}); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.Put(t.Context(), "k", []byte("new\n")); err != nil {
		t.Error(err)
	}
	if err := holder.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	if got := readLines(t, b, "k"); !slices.Equal(got, []string{"new", "line"}) {
		t.Errorf("lines %q", got)
	}
}
