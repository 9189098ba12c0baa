//go:build linux

package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// A supervisor is killed with -9 while two replicas print and it has their output to take:
// who reads the logs, following them already or later, gets each line that a replica wrote,
// once and in order.
func TestKillOfTheSupervisorLosesNoLine(t *testing.T) {
	s := newScheduler(t)
	ledgers := t.TempDir()
	role := shRole("a", 2, `i=0; while :; do i=$((i+1)); echo "line $i"; echo "$i" >>`+ledgers+`/$HEIRLOOM_REPLICA; done`)
	h := submitted(t, s, role)
	size := func(k int) int64 {
		info, err := os.Stat(filepath.Join(ledgers, strconv.Itoa(k)))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	await(t, "lines", func() bool { return size(0) > 1000 && size(1) > 1000 })
	type read struct{ lines [2]int }
	follow := func() (r read) {
		for line, err := range s.Logs(t.Context(), h, runner.LogQuery{Tail: true}) {
			if err != nil {
				t.Error(err)
				return r
			}
			r.lines[line.Replica]++
			if want := "line " + strconv.Itoa(r.lines[line.Replica]) + "\n"; line.Text != want {
				t.Errorf("replica %d: got %q, want %q", line.Replica, line.Text, want)
				return r
			}
		}
		return r
	}
	followed := make(chan read, 1)
	go func() { followed <- follow() }()
	l, err := s.newest(h)
	if err != nil {
		t.Fatal(err)
	}
	var who supervisor
	if _, err := l.read(supervisorFile, &who); err != nil || who.PID == 0 {
		t.Fatal(who, err)
	}
	_ = syscall.Kill(who.PID, syscall.SIGSTOP)
	before, same := int64(-1), 0
	await(t, "full pipes", func() bool {
		if n := size(0) + size(1); n != before {
			before, same = n, 0
		}
		same++
		return same > 20
	})
	_ = syscall.Kill(who.PID, syscall.SIGKILL)
	if status := waited(t, s, h); status.State != tracker.Lost {
		t.Errorf("got %+v", status)
	}
	during, after := <-followed, follow()
	for k := range 2 {
		body, _ := os.ReadFile(filepath.Join(ledgers, strconv.Itoa(k)))
		acknowledged := strings.Count(string(body), "\n")
		for name, got := range map[string]int{"followed": during.lines[k], "read after": after.lines[k]} {
			if got < acknowledged || got > acknowledged+1 {
				t.Errorf("replica %d: %s %d lines, %d were acknowledged", k, name, got, acknowledged)
			}
		}
	}
}
