package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	const index = "1000 0 0 0\n2000 10 0 10\nrubbish\n3000 10 5 15\n4000 5 5 15\n5000 20 9 2\n6000 2"
	for _, c := range []struct {
		log    string
		offset int64
		want   int64
	}{
		{"stdout.log", 0, 1000}, {"stdout.log", 9, 1000}, {"stdout.log", 10, 3000}, {"stdout.log", 99, 5000},
		{"stderr.log", 0, 2000}, {"stderr.log", 5, 4000}, {"stderr.log", 8, 4000}, {"combined.log", 12, 2000}, {"combined.log", 15, 4000},
	} {
		times, err := ReadTimes(strings.NewReader(index), c.log)
		if got := times.Of(c.offset); err != nil || got.UnixNano() != c.want {
			t.Errorf("%s at %d: %d, %v, want %d", c.log, c.offset, got.UnixNano(), err, c.want)
		}
	}
	if got := (Times{}).Of(3); !got.IsZero() {
		t.Errorf("no index: %s", got)
	}
}

func FuzzReadTimes(f *testing.F) {
	f.Add("1000 0 0 0\n2000 10 0 10\n")
	f.Add("9 9 9\n-1 -1 -1 -1\n1 99999999999999999999 0 0")
	f.Fuzz(func(t *testing.T, index string) {
		times, _ := ReadTimes(strings.NewReader(index), "combined.log")
		for _, offset := range []int64{-1, 0, 1 << 40} {
			times.Of(offset)
		}
	})
}

// A line's time lies between those of which the job itself says that it wrote it.
func TestTimesOfLogs(t *testing.T) {
	spec := shell(t, `echo first; while [ ! -e "$GO" ]; do sleep 0.01; done; echo second; echo other >&2`)
	gone := filepath.Join(t.TempDir(), "go")
	spec.Env = append(spec.Env, "GO="+gone)
	out := newExpect()
	spec.Stdout = out
	begun := time.Now()
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	out.wait(t, "first")
	between := time.Now().Add(timesStep)
	time.Sleep(time.Until(between)) // so that the next line is later by more than the index can tell
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(spec.LogDir, timesLog))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	times, err := ReadTimes(f, combinedLog)
	if err != nil {
		t.Fatal(err)
	}
	first, second := times.Of(0), times.Of(int64(len("first\n")))
	if first.Before(begun) || !first.Before(between) || second.Before(between) || second.After(time.Now()) {
		t.Errorf("begun %s, first %s, between %s, second %s", begun, first, between, second)
	}
}
