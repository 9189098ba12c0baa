//go:build linux

package process

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// printer notes each line of stdout in the ledger when it is written: it was acknowledged.
const printer = `i=0; echo ready
while :; do
	i=$((i+1)); echo "err $i" >&2; echo "out $i"; echo "$i" >>"$LEDGER"
done`

// A launcher is killed with -9 while the job prints, in half of the rounds with its pipes
// full: each line that the job wrote is in its log, and once in the combined one.
func TestKillOfTheLauncherLosesNoLine(t *testing.T) {
	rounds := 10
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 200
	}
	for i := range rounds {
		spec := shell(t, printer)
		ledger := filepath.Join(t.TempDir(), "ledger")
		spec.Env = append(spec.Env, "LEDGER="+ledger)
		cmd, out := launcher(t, spec)
		out.wait(t, "ready")
		time.Sleep(rand.N(20 * time.Millisecond)) // at any moment
		if i%2 == 0 {
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			awaitStill(t, ledger)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		waitGone(t, spec.Mark)
		poll(t, func() bool { return len(saying(t, spec.LogDir)) == 0 }) // its guard
		acknowledged := strings.Count(readFile(t, ledger), "\n")
		stdout, stderr := readLog(t, spec, stdoutLog), readLog(t, spec, stderrLog)
		checkCount(t, stdout, "ready\n", "out", acknowledged)
		checkCount(t, stderr, "", "err", acknowledged)
		checkCombined(t, restOf(t, spec.LogDir), stdout, stderr)
		for range 2 { // which may be killed too, before it has removed the note
			if err := mend(spec.LogDir); err != nil {
				t.Fatal(err)
			}
			checkCombined(t, readLog(t, spec, combinedLog), stdout, stderr)
		}
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
}

// awaitStill waits until a file does not grow: the job is held up by full pipes.
func awaitStill(t *testing.T, file string) {
	t.Helper()
	last, same := int64(-1), 0
	poll(t, func() bool {
		info, err := os.Stat(file)
		if err != nil || info.Size() != last {
			if err == nil {
				last = info.Size()
			}
			same = 0
			return false
		}
		same++
		return same > 20
	})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// checkCount says whether a log has the lines from 1 on, at least that many, of which the last
// may be cut.
func checkCount(t *testing.T, log, first, word string, least int) {
	t.Helper()
	log, ok := strings.CutPrefix(log, first)
	if !ok {
		t.Errorf("the log begins with %.40q", log)
	}
	n := 0
	for line := range strings.Lines(log) {
		if want := word + " " + strconv.Itoa(n+1) + "\n"; line != want {
			if !strings.HasPrefix(want, line) {
				t.Errorf("after %d lines %s has %q", n, word, line)
			}
			break
		}
		n++
	}
	if n < least {
		t.Errorf("%s has %d lines, %d were acknowledged", word, n, least)
	}
}

// checkCombined says whether the lines of both logs, in their order, are those of the
// combined one.
func checkCombined(t *testing.T, combined string, logs ...string) {
	t.Helper()
	total := 0
	for i, log := range logs {
		word := []string{"out", "err"}[i]
		var own strings.Builder
		for line := range strings.Lines(combined) {
			if strings.HasPrefix(line, word) || word == "out" && !strings.HasPrefix(line, "e") {
				own.WriteString(line)
			}
		}
		if got := strings.TrimSuffix(own.String(), "\n"); got != strings.TrimSuffix(log, "\n") {
			t.Errorf("the combined log has %d bytes of %s, its own %d", len(got), word, len(log))
		}
		total += strings.Count(log, "\n")
	}
	if n := strings.Count(combined, "\n"); n < total || n > total+len(logs) {
		t.Errorf("the combined log has %d lines, the two have %d", n, total)
	}
}

// restOf reads combined.log and what follows it.
func restOf(t *testing.T, dir string) string {
	t.Helper()
	text := readFile(t, filepath.Join(dir, combinedLog))
	rests, err := Rests(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rests {
		if i > 0 && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += readFile(t, filepath.Join(dir, r.Log))[r.At:]
	}
	return text
}

// What was added to combined.log and not yet noted is not read twice.
func TestRests(t *testing.T) {
	note := func(combined, out, err int) string { return fmt.Sprintf("%020d %020d %020d\n", combined, out, err) }
	tests := []struct {
		name, out, err, combined, note, want string
	}{
		{"whole", "a\n", "b\n", "a\nb\n", "", ""},
		{"nothing yet", "a\n", "b\n", "", note(0, 0, 0), "a\nb\n"},
		{"noted", "a\nc\n", "b\n", "a\nb\n", note(4, 2, 2), "c\n"},
		{"added of out", "a\nc\nd\n", "b\n", "a\nb\nc\n", note(4, 2, 2), "d\n"},
		{"added of err", "a\nc\n", "b\ne\nf\n", "a\nb\ne\n", note(4, 2, 2), "f\nc\n"},
		{"torn", "a\nc\n", "b\neee\nf\n", "a\nb\nee", note(4, 2, 2), "e\nf\nc\n"},
		{"of both", "a\nx\n", "b\nx\n", "a\nb\nx\n", note(4, 2, 2), "x\n"},
		{"broken line", "aaaa", "b\n", "aa\n", note(0, 0, 0), "aab\n"},
		{"appended to", "old\na\n", "b\n", "old\n", note(4, 4, 0), "a\nb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{stdoutLog: tt.out, stderrLog: tt.err, combinedLog: tt.combined, partLog: tt.note} {
				if name == partLog && text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rests, err := Rests(dir)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, r := range rests {
				got += readFile(t, filepath.Join(dir, r.Log))[r.At:]
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if err := Mend(dir); err != nil {
				t.Fatal(err)
			}
			lines := strings.Count(tt.out, "\n") + strings.Count(tt.err, "\n")
			if mended := readFile(t, filepath.Join(dir, combinedLog)); tt.name != "broken line" && tt.name != "appended to" && strings.Count(mended, "\n") != lines {
				t.Errorf("mended: %q", mended)
			}
			if rests, err := Rests(dir); rests != nil || err != nil {
				t.Errorf("after that %v, %v", rests, err)
			}
		})
	}
}

// While logs are written the note is there, and after that it is not.
func TestNoteIsRemoved(t *testing.T) {
	spec := shell(t, `test -e "$DIR/combined.part" && echo noted`)
	spec.Env = append(spec.Env, "DIR="+spec.LogDir)
	run(t, spec)
	if got := readLog(t, spec, stdoutLog); got != "noted\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(spec.LogDir, partLog)); !os.IsNotExist(err) {
		t.Errorf("the note: %v", err)
	}
}
