package tracker_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// changing are the system calls by which anything changes on a disk, or is made
// to last there, and that which gives an acknowledgement. What is opened anew is
// written to next, so that opening is no point of its own.
const changing = "mkdir,mkdirat,write,pwrite64,writev,pwritev,fsync,fdatasync,syncfs,sync_file_range," +
	"link,linkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,flock,truncate,ftruncate,fallocate,fchmod,fchmodat,fchmodat2,fsetxattr"

// A helper's system calls are counted by thread, so it has to stay on one.
func init() {
	if os.Getenv(helperVariable) == "deed" {
		runtime.LockOSThread()
	}
}

// TestKillAtSystemCalls kills each kind of write on a local disk as it enters
// each of its system calls.
func TestKillAtSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		servers.Missing(t, err, "apt-get install strace", "strace")
	}
	x := serve(t, "file", object(), "torchx==0.7.0", "fsspec==2026.9.0")
	kills := 0
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			points := pointsOf(t, d)
			for _, at := range rand.Perm(len(points))[:storetest.Rounds(len(points))] {
				killAt(t, d, points[at], x)
				kills++
				if t.Failed() {
					t.Fatalf("killed at %v", points[at])
				}
			}
			t.Logf("%d points: %v", len(points), points)
		})
	}
	t.Logf("%d kills", kills)
}

// point is a system call of a process: the how many-th of that name.
type point struct {
	call   string
	number int
}

// pointsOf runs the deed to its end and returns the calls within it.
func pointsOf(t *testing.T, d deed) []point {
	t.Helper()
	p := newPatient(t, t.TempDir())
	if d.seed != nil {
		d.seed(p)
	}
	cmd, log := traced(t, d, p.data.URL())
	if out, err := cmd.Output(); err != nil || string(out) != "begin\ndone\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if !d.kept(p) {
		t.Fatal("the deed does not do what it is there for")
	}
	trace, err := os.ReadFile(log)
	check(t, err)
	begin := regexp.MustCompile(`(?m)^(\d+) +write\(1, "begin`).FindSubmatchIndex(trace)
	if begin == nil {
		t.Fatalf("no begin in\n%s", trace)
	}
	calls := regexp.MustCompile(`(?m)^` + string(trace[begin[2]:begin[3]]) + ` +([a-z0-9_]+)\(`)
	counts := map[string]int{}
	var points []point
	for _, m := range calls.FindAllSubmatchIndex(trace, -1) {
		name := string(trace[m[2]:m[3]])
		counts[name]++
		if m[0] > begin[0] {
			points = append(points, point{name, counts[name]})
		}
	}
	return points
}

// traced is the process of a deed, whose system calls are noted in log.
func traced(t *testing.T, d deed, url string, flags ...string) (cmd *exec.Cmd, log string) {
	t.Helper()
	cmd, log = helper(t, "deed", url, d.name), filepath.Join(t.TempDir(), "log")
	strace, err := exec.LookPath("strace")
	check(t, err)
	flags = append([]string{"strace", "-f", "-qq", "-o", log, "-e", "trace=?" + strings.ReplaceAll(changing, ",", ",?")}, flags...)
	cmd.Path, cmd.Args = strace, append(append(flags, os.Args[0]), cmd.Args[1:]...)
	return cmd, log
}

// killAt kills the process of a deed as it enters a system call.
func killAt(t *testing.T, d deed, at point, x *torchx) {
	t.Helper()
	p := newPatient(t, t.TempDir())
	if d.seed != nil {
		d.seed(p)
	}
	before := objects(t, p.data)
	cmd, _ := traced(t, d, p.data.URL(), "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", at.call, at.number))
	p.examine(d, isDone(t, cmd), before, x, p.root.URL())
}
