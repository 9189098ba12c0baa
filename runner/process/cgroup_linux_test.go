package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// realCgroups finds where the kernel lets us make groups, or skips.
func realCgroups(t *testing.T, l Limits, name string) *Cgroups {
	t.Helper()
	c, err := FindCgroups("", l)
	if err != nil {
		servers.Missing(t, err, "run the tests in a delegated control group: systemd-run --user --scope -p Delegate=yes", name)
	}
	return c
}

// escaped leaves its session, its environment and its parent.
const escaped = `(setsid env -i /bin/sh -c '(trap "" TERM; /bin/sleep ARG; :)&' &) ; sleep 0.2; `

// What left in every way is found in its control group and ended with the job, and the
// group is removed, also where it was divided further.
func TestCgroupEndsWhatEscaped(t *testing.T) {
	spec := shell(t, strings.Replace(escaped, "ARG", "602.25", 1)+`
mkdir "$GROUPS_DIR$(sed -n 's/^0::.*\///p' /proc/self/cgroup)/below"; exit 4`)
	spec.Cgroups, spec.Grace = realCgroups(t, Limits{}, "cgroup"), 200*time.Millisecond
	spec.Env = append(spec.Env, "GROUPS_DIR="+spec.Cgroups.dir+"/")
	exit := run(t, spec)
	if exit.Code != 4 || exit.Left == 0 || len(exit.Survivors) > 0 {
		t.Errorf("got %+v", exit)
	}
	if left := saying(t, "602.25"); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
	if groups := groupsOf(spec.Cgroups, os.Getpid()); len(groups) > 0 {
		t.Errorf("groups stay: %v", groups)
	}
}

// The guard of a launcher that was killed ends it too, and removes the group.
func TestKillOfTheLauncherOfACgroup(t *testing.T) {
	spec := shell(t, strings.Replace(escaped, "ARG", "603.25", 1)+"echo ready; sleep 600")
	spec.Cgroups = realCgroups(t, Limits{}, "cgroup")
	cmd, out := launcher(t, spec)
	out.wait(t, "ready")
	poll(t, func() bool { return len(saying(t, "603.25")) > 0 && len(groupsOf(spec.Cgroups, cmd.Process.Pid)) > 0 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	poll(t, func() bool { return len(saying(t, "603.25")) == 0 })
	poll(t, func() bool { return len(groupsOf(spec.Cgroups, cmd.Process.Pid)) == 0 })
}

// groupsOf are the groups that a process made.
func groupsOf(c *Cgroups, pid int) []string {
	groups, _ := filepath.Glob(filepath.Join(c.dir, fmt.Sprintf("heirloom-%d-*", pid)))
	return groups
}

// A job that takes more memory than it may is killed whole, and that is told; it sees its
// share of the CPUs. This needs the kernel's controllers.
func TestLimits(t *testing.T) {
	l := Limits{CPUs: 1, Memory: 64 << 20}
	spec := shell(t, `cat "$GROUPS_DIR$(sed -n 's/^0::.*\///p' /proc/self/cgroup)/cpu.max"; (head -c 200000000 /dev/zero | tail >/dev/null); echo survived`)
	spec.Cgroups, spec.Limits = realCgroups(t, l, "cgroup-limits"), l
	spec.Env = append(spec.Env, "GROUPS_DIR="+spec.Cgroups.dir+"/")
	exit := run(t, spec)
	if exit.Signal != "SIGKILL" || !exit.OutOfMemory {
		t.Errorf("got %+v", exit)
	}
	if got := readLog(t, spec, stdoutLog); got != "100000 100000\n" {
		t.Errorf("it said %q", got)
	}
	spec = shell(t, "head -c 20000000 /dev/zero | tail >/dev/null; echo survived")
	spec.Cgroups, spec.Limits = realCgroups(t, l, "cgroup-limits"), l
	if exit := run(t, spec); exit.Code != 0 || exit.OutOfMemory {
		t.Errorf("below the limit: %+v", exit)
	}
}

// A group whose maker and its guard were killed is removed by the next.
func TestStaleGroupsAreRemoved(t *testing.T) {
	c := realCgroups(t, Limits{}, "cgroup")
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(c.dir, fmt.Sprintf("heirloom-%d-stale", gone.Process.Pid))
	ours := filepath.Join(c.dir, fmt.Sprintf("heirloom-%d-ours", os.Getpid()))
	for _, dir := range []string{stale, ours} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(dir)
	}
	spec := shell(t, "true")
	spec.Cgroups = c
	run(t, spec)
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
	if _, err := os.Stat(ours); err != nil {
		t.Errorf("that of a process that lives: %v", err)
	}
}

// Limits that cannot be kept are an error of Start, and a group that only helps is done
// without.
func TestCgroupCannotBeMade(t *testing.T) {
	spec := shell(t, "true")
	spec.Cgroups = cgroupsIn(filepath.Join(t.TempDir(), "none"))
	if exit := run(t, spec); exit.Code != 0 {
		t.Errorf("got %+v", exit)
	}
	spec.Limits.CPUs = 1
	before := openFiles(t)
	if p, err := Start(spec); err == nil {
		_, _ = p.Wait(t.Context())
		t.Error("it was started")
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d open files before, %d after", before, after)
	}
}

// fakeGroups makes a tree of plain files like the kernel's, whose text stays as it was
// written: it shows what we look at and write, not what the kernel makes of it.
func fakeGroups(t *testing.T, path string, files map[string]string) (proc, top string) {
	t.Helper()
	proc, top = t.TempDir(), filepath.Join(t.TempDir(), "a b")
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(proc, "cgroup"), "4:memory:/old\n0::"+path+"\n")
	write(filepath.Join(proc, "mountinfo"), "21 1 0:20 / /proc rw - proc proc rw\n"+
		"22 1 0:21 / "+strings.ReplaceAll(top, " ", `\040`)+" rw,nosuid shared:5 - cgroup2 cgroup2 rw\n")
	for name, text := range files {
		write(filepath.Join(top, name), text)
	}
	return proc, top
}

// group are the files of one.
func group(dir, controllers, given, procs string) map[string]string {
	return map[string]string{
		dir + "/cgroup.controllers": controllers, dir + "/cgroup.subtree_control": given, dir + "/cgroup.procs": procs, dir + "/cgroup.type": "domain\n",
	}
}

func TestFindCgroupsInAFakeTree(t *testing.T) {
	both := Limits{CPUs: 2, Memory: 1 << 20}
	self := mustJSON(t, os.Getpid()) + "\n"
	tests := []struct {
		name   string
		groups []map[string]string
		limits Limits
		want   string // below the top
		err    string
	}{
		{"own, no limits", []map[string]string{group("s/own", "", "", "1\n2\n")}, Limits{}, "s/own", ""},
		{"own divides", []map[string]string{group("s/own", "cpu memory pids\n", "cpu memory\n", "")}, both, "s/own", ""},
		{"own can be divided", []map[string]string{group("s/own", "cpu memory\n", "", self)}, both, "s/own", ""},
		{"the one around", []map[string]string{group("s/own", "cpu memory\n", "", "1\n"), group("s", "cpu memory\n", "memory cpu\n", "")}, both, "s", ""},
		{"limits of our own", []map[string]string{group("s/own", "cpu memory\n", "", "1\n"), group("s", "cpu memory\n", "memory cpu\n", ""), {"s/own/memory.max": "1000\n"}}, both, "", "has processes"},
		{"busy", []map[string]string{group("s/own", "cpu memory\n", "", "1\n"), group("s", "memory\n", "", "")}, both, "", "has processes of its own (1)"},
		{"no controller", []map[string]string{group("s/own", "memory pids\n", "memory\n", "")}, both, "", "has no cpu controller"},
		{"no group", nil, Limits{}, "", "no control group of version 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, g := range tt.groups {
				for name, text := range g {
					files[name] = text
				}
			}
			proc, top := fakeGroups(t, "/s/own", files)
			c, err := findCgroups(proc, "", tt.limits)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || c.dir != filepath.Join(top, tt.want) {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
}

func TestGroupInAFakeTree(t *testing.T) {
	_, top := fakeGroups(t, "/own", group("own", "cpu memory\n", "", ""))
	c, err := FindCgroups(filepath.Join(top, "own"), Limits{CPUs: 2, Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c.mkdir = func(dir string) error {
		for _, name := range []string{"cpu.max", "memory.max", "memory.oom.group", "memory.events", "cgroup.procs", "cgroup.kill"} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	told := ""
	g, err := c.make(Limits{CPUs: 2, Memory: 1 << 20}, func(dir string) { told = dir })
	if err != nil {
		t.Fatal(err)
	}
	defer g.opened.Close()
	if told != g.dir {
		t.Errorf("the guard was told of %q", told)
	}
	g.kill()
	for name, want := range map[string]string{
		g.dir + "/cpu.max": "200000 100000", g.dir + "/memory.max": "1048576", g.dir + "/memory.oom.group": "1", g.dir + "/cgroup.kill": "1",
		c.dir + "/cgroup.subtree_control": "+cpu +memory",
	} {
		if got := readFile(t, name); got != want {
			t.Errorf("%s has %q, want %q", filepath.Base(name), got, want)
		}
	}
	if err := os.WriteFile(g.dir+"/memory.events", []byte("low 0\noom 1\noom_kill 2\noom_group_kill 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !g.outOfMemory() {
		t.Error("not seen to be out of memory")
	}
}

func TestNoControlGroups(t *testing.T) {
	for name, files := range map[string][2]string{
		"version 1": {"4:memory:/\n", "22 1 0:21 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"},
		"unmounted": {"0::/\n", ""},
		"outside":   {"0::/../x\n", "22 1 0:21 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
	} {
		proc := t.TempDir()
		for i, file := range []string{"cgroup", "mountinfo"} {
			if err := os.WriteFile(filepath.Join(proc, file), []byte(files[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if c, err := findCgroups(proc, "", Limits{}); err == nil || !strings.Contains(err.Error(), "control group") {
			t.Errorf("%s: got %v, %v", name, c, err)
		}
	}
}
