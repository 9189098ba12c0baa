package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The names of control groups that we make.
const (
	groupStart      = "heirloom-"
	supervisorGroup = groupStart + "supervisor"
)

// Cgroups is a place in the kernel's tree of control groups, version 2, where each
// process gets a group: nothing that it starts leaves that, and all of it is killed at
// once. Nil makes none.
type Cgroups struct {
	dir   string
	mkdir func(dir string) error // os.Mkdir but in tests
}

// FindCgroups finds where groups with these limits can be made: in dir, or, where that is
// "", in the group that we are in, and for limits also in one around it. It changes
// nothing. The error says why there is none.
func FindCgroups(dir string, l Limits) (*Cgroups, error) { return findCgroups("/proc/self", dir, l) }

func findCgroups(proc, dir string, l Limits) (*Cgroups, error) {
	if dir != "" {
		c := cgroupsIn(filepath.Clean(dir))
		return c, c.check(l)
	}
	own, top, err := ownCgroup(proc)
	if err != nil {
		return nil, err
	}
	c := cgroupsIn(own)
	refused := c.check(l)
	for refused != nil && len(l.controllers()) > 0 && c.dir != top && !c.bounds() {
		if c = cgroupsIn(filepath.Dir(c.dir)); c.check(l) == nil {
			return c, nil
		}
	}
	if refused != nil {
		return nil, refused
	}
	return c, nil
}

// bounds says whether who leaves the group would escape something: limits, or the end of
// a job that we are part of.
func (c *Cgroups) bounds() bool {
	for _, file := range []string{"cpu.max", "memory.max", "memory.high", "pids.max"} {
		if limit := words(filepath.Join(c.dir, file)); len(limit) > 0 && limit[0] != "max" {
			return true
		}
	}
	name := filepath.Base(c.dir)
	return strings.HasPrefix(name, groupStart) && name != supervisorGroup
}

func cgroupsIn(dir string) *Cgroups {
	return &Cgroups{dir: dir, mkdir: func(dir string) error { return os.Mkdir(dir, 0o755) }}
}

// check says why no group with these limits can be made here.
func (c *Cgroups) check(l Limits) error {
	procs := filepath.Join(c.dir, "cgroup.procs")
	if _, err := os.Stat(filepath.Join(c.dir, "cgroup.subtree_control")); err != nil {
		return fmt.Errorf("%s is no control group of version 2", c.dir)
	}
	if unix.Access(c.dir, unix.W_OK) != nil || unix.Access(procs, unix.W_OK) != nil {
		return fmt.Errorf("the control group %s is not delegated to this user", c.dir)
	}
	missing := c.missing(l)
	if len(missing) == 0 {
		return nil
	}
	for _, name := range missing {
		if !slices.Contains(words(filepath.Join(c.dir, "cgroup.controllers")), name) {
			return fmt.Errorf("the control group %s has no %s controller", c.dir, name)
		}
	}
	if others := c.others(); len(others) > 0 {
		return fmt.Errorf("the control group %s has processes of its own (%s), and cannot give its groups the %s controller",
			c.dir, strings.Join(others[:min(3, len(others))], ", "), strings.Join(missing, " and "))
	}
	return nil
}

// missing are the controllers that groups made here would lack.
func (c *Cgroups) missing(l Limits) []string {
	given := words(filepath.Join(c.dir, "cgroup.subtree_control"))
	return slices.DeleteFunc(l.controllers(), func(name string) bool { return slices.Contains(given, name) })
}

// others are the processes in the group beside us, which keep it from being divided;
// the first group of all may have some.
func (c *Cgroups) others() []string {
	if _, err := os.Stat(filepath.Join(c.dir, "cgroup.type")); err != nil {
		return nil
	}
	self := strconv.Itoa(os.Getpid())
	return slices.DeleteFunc(words(filepath.Join(c.dir, "cgroup.procs")), func(pid string) bool { return pid == self })
}

// divide has groups made here get the controllers of the limits. Should we be in
// it, we go into a group below it first.
func (c *Cgroups) divide(l Limits) error {
	missing := c.missing(l)
	if len(missing) == 0 {
		return nil
	}
	file, order := filepath.Join(c.dir, "cgroup.subtree_control"), "+"+strings.Join(missing, " +")
	err := command(file, order)
	if errors.Is(err, unix.EBUSY) && len(c.others()) == 0 {
		aside := filepath.Join(c.dir, supervisorGroup)
		if made := c.mkdir(aside); made == nil || errors.Is(made, fs.ErrExist) {
			if err = command(filepath.Join(aside, "cgroup.procs"), strconv.Itoa(os.Getpid())); err == nil {
				err = command(file, order)
			}
		}
	}
	return err
}

// make makes a group with these limits, of which tell hears before it is there, so that
// it stays with nobody should we be killed.
func (c *Cgroups) make(l Limits, tell func(dir string)) (*cgroup, error) {
	if err := c.divide(l); err != nil {
		return nil, fmt.Errorf("divide control group %s: %w", c.dir, err)
	}
	c.clear()
	g := &cgroup{dir: filepath.Join(c.dir, fmt.Sprintf("%s%d-%s", groupStart, os.Getpid(), rand.Text()[:8]))}
	tell(g.dir)
	if err := c.mkdir(g.dir); err != nil {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	err := g.limit(l)
	if err == nil {
		g.opened, err = os.Open(g.dir)
	}
	if err != nil {
		_ = os.Remove(g.dir)
		return nil, fmt.Errorf("make control group: %w", err)
	}
	return g, nil
}

// clear removes empty groups of processes that are no more, whose guards went with them.
func (c *Cgroups) clear() {
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		maker, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), groupStart), "-")
		pid, err := strconv.Atoi(maker)
		if err == nil && strings.HasPrefix(e.Name(), groupStart) && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = unix.Rmdir(filepath.Join(c.dir, e.Name())) // refused while anything is in it
		}
	}
}

// cgroup is the group of one process. Nil is none.
type cgroup struct {
	dir    string
	opened *os.File
}

func (g *cgroup) limit(l Limits) error {
	if l.CPUs > 0 {
		const period = 100_000 // microseconds
		if err := command(filepath.Join(g.dir, "cpu.max"), fmt.Sprintf("%d %d", l.CPUs*period, period)); err != nil {
			return err
		}
	}
	if l.Memory == 0 {
		return nil
	}
	for _, rule := range []struct {
		file, value string
		needed      bool
	}{
		{"memory.max", strconv.FormatInt(l.Memory, 10), true},
		{"memory.swap.max", "0", false},  // not where the kernel does not count swap
		{"memory.oom.group", "1", false}, // since Linux 4.19
	} {
		if err := command(filepath.Join(g.dir, rule.file), rule.value); err != nil && (rule.needed || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// enter makes a process start in the group.
func (g *cgroup) enter(cmd *exec.Cmd) {
	if g != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.opened.Fd())
	}
}

// kill kills all that is in the group and in those below it, and what is just being born.
func (g *cgroup) kill() {
	if g == nil {
		return
	}
	if err := command(filepath.Join(g.dir, "cgroup.kill"), "1"); err != nil { // before Linux 5.14
		for _, pid := range g.pids() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// pids are the processes of the group and of those below it.
func (g *cgroup) pids() (pids []int) {
	if g == nil {
		return nil
	}
	_ = filepath.WalkDir(g.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "cgroup.procs" {
			for _, word := range words(path) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
		}
		return nil // gone meanwhile
	})
	return pids
}

// outOfMemory says whether the kernel killed anything for the limit of memory.
func (g *cgroup) outOfMemory() bool {
	if g == nil {
		return false
	}
	events := words(filepath.Join(g.dir, "memory.events"))
	i := slices.Index(events, "oom_kill")
	return i >= 0 && i+1 < len(events) && events[i+1] != "0"
}

// remove removes the group, and those that were made below it, when nothing lives there
// any more.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	_ = g.opened.Close()
	for limit := time.Now().Add(reap); ; time.Sleep(time.Millisecond) { // the kernel is done with the dead a moment later
		var dirs []string
		_ = filepath.WalkDir(g.dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		busy := false
		for _, dir := range slices.Backward(dirs) {
			busy = errors.Is(unix.Rmdir(dir), unix.EBUSY) || busy
		}
		if !busy || time.Now().After(limit) || len(g.pids()) > 0 {
			return
		}
	}
}

// command writes to a file of the kernel.
func command(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func words(file string) []string {
	text, _ := os.ReadFile(file)
	return strings.Fields(string(text))
}

// ownCgroup gives the group that we are in and the first that we see, where the kernel
// shows them.
func ownCgroup(proc string) (own, top string, err error) {
	text, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return "", "", fmt.Errorf("this system has no control groups: %w", err)
	}
	path := ""
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			path = after
		}
	}
	if path == "" || strings.HasPrefix(path, "/..") { // the second is outside of what we see
		return "", "", errors.New("this process is in no control group of version 2")
	}
	text, err = os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		fields, kind, _ := strings.Cut(line, " - ")
		f := strings.Fields(fields) // proc_pid_mountinfo(5): the fourth is what is mounted, the fifth where
		if !strings.HasPrefix(kind, "cgroup2 ") || len(f) < 5 {
			continue
		}
		rel, err := filepath.Rel(unescaped(f[3]), path)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.Join(unescaped(f[4]), rel), unescaped(f[4]), nil
		}
	}
	return "", "", errors.New("control groups of version 2 are not mounted here")
}

// unescaped is a path as mountinfo writes it, with \040 for a space.
func unescaped(path string) string {
	for _, c := range []string{" ", "\t", "\n", `\`} {
		path = strings.ReplaceAll(path, fmt.Sprintf(`\%03o`, c[0]), c)
	}
	return path
}
