package tracker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestKillAtRequests kills each kind of write on S3 before each of its requests
// and once that was carried out.
func TestKillAtRequests(t *testing.T) {
	server := servers.MinIO(t)
	x := serve(t, "s3", fsspecOptions(t, server.URL("")), "torchx==0.7.0", "fsspec==2026.9.0", "s3fs==2026.9.0")
	kills := 0
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			fresh := func() *patient {
				kills++
				p := newPatient(t, server.URL(fmt.Sprint("kill/", kills)))
				if d.seed != nil {
					d.seed(p)
				}
				return p
			}
			points := requestsOf(t, fresh(), d)
			for _, at := range rand.Perm(points)[:storetest.Rounds(points)] {
				p := fresh()
				before := objects(t, p.data)
				p.examine(d, isDone(t, mortal(t, p, d, at+1)), before, x, plain(p.root.URL()))
				if t.Failed() {
					t.Fatalf("killed at %d of %d", at+1, points)
				}
			}
			t.Logf("%d points", points)
		})
	}
	t.Logf("%d kills", kills-len(deeds()))
}

// requestsOf runs the deed to its end and returns how many points it has.
func requestsOf(t *testing.T, p *patient, d deed) int {
	t.Helper()
	out, err := mortal(t, p, d, 0).Output()
	check(t, err)
	if !d.kept(p) {
		t.Fatal("the deed does not do what it is there for")
	}
	lines := strings.Fields(string(out))
	n, err := strconv.Atoi(lines[len(lines)-1])
	check(t, err)
	return n
}

// mortal is the process of a deed that dies at the point of that number; 0 is
// none, and it tells how many there were.
func mortal(t *testing.T, p *patient, d deed, at int) *exec.Cmd {
	t.Helper()
	cmd := helper(t, "deed", p.data.URL(), d.name)
	cmd.Env = append(cmd.Env, deathVariable+"="+strconv.Itoa(at))
	return cmd
}

// plain is a URL without its query, as fsspec takes it.
func plain(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url
}

// fate counts how many points of its life a process has passed.
type fate struct {
	last   int64 // where it ends; 0 is nowhere
	passed atomic.Int64
}

func (f *fate) intercept(_ context.Context, _ store.Request, do func() error) error {
	f.pass()
	defer f.pass()
	return do()
}

func (f *fate) pass() {
	if f.passed.Add(1) != f.last {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err) // not reached
}
