package settle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// judged is a file, long closed before its judge began, and a clock that starts
// when the file was last changed.
func judged(t *testing.T, name string) (j *Judge, f *os.File, now *time.Time) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("body"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, id, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	clock := time.Unix(0, max(id.Changed, id.Modified))
	j = New(dir, Options{Stable: time.Minute, Now: func() time.Time { return clock }})
	t.Cleanup(func() { _ = j.Close() })
	return j, f, &clock
}

func TestBusy(t *testing.T) {
	const still = "stood still"
	for _, c := range []struct {
		name, file string
		whole      bool
		after      []time.Duration // of looks since the change
		want       string          // what the last says, "" for nothing
	}{
		{"young", "f", false, []time.Duration{time.Second}, still},
		{"vouched for", "f", true, []time.Duration{time.Second}, ""},
		{"not long enough", "f", false, []time.Duration{0, time.Minute - 1}, still},
		{"long enough", "f", false, []time.Duration{0, time.Minute}, ""},
		{"old but seen for the first time", "f", false, []time.Duration{time.Minute}, still},
		{"older than clocks differ", "f", false, []time.Duration{2 * time.Minute}, ""},
		{"temporary", "f.tmp", true, []time.Duration{24 * time.Hour}, "temporary"},
		{"a temporary checkpoint", "tmp-checkpoint-5", true, []time.Duration{24 * time.Hour}, "temporary"},
		{"cut short", "f.npz", true, []time.Duration{24 * time.Hour}, "not complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, f, now := judged(t, c.file)
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			changed, got := *now, ""
			for _, after := range c.after {
				*now = changed.Add(after)
				j.Begin()
				got = j.Busy(c.file, f, IdentityOf(info), c.whole)
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
