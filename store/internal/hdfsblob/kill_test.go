package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree/dirtreetest"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// killedEnv tells this test's own binary to be the writer that is killed: authority and directory.
const killedEnv = "HEIRLOOM_TEST_HDFS_WRITER"

func TestMain(m *testing.M) {
	for env, run := range map[string]func(order string) error{killedEnv: writeForEver, moverEnv: runMover} {
		order := os.Getenv(env)
		if order == "" {
			continue
		}
		if err := run(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeForEver creates and replaces objects of all sizes until it is killed.
func writeForEver(place string) error {
	authority, root, _ := strings.Cut(place, "/")
	b, err := Open(authority, root, nil)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	ctx := context.Background()
	for n := 0; ; n++ {
		body := sealed(byte(n), rand.IntN(1<<rand.IntN(24)))
		if _, err := b.Put(ctx, "replaced", body); err != nil && !errors.Is(err, dirtree.ErrUnavailable) {
			return err
		}
		_, err := b.Create(ctx, fmt.Sprintf("created/%d", n), body, "")
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, dirtree.ErrUnavailable) {
			return err
		}
	}
}

// testKilledWriters kills writers at random moments. What is visible must be whole, and nothing be in the way of the
// next.
func testKilledWriters(t *testing.T, authority string) {
	t.Parallel() // it waits more than it works
	b := open(t, authority, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range rounds(200) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), killedEnv+"="+authority+b.Dir())
		dirtreetest.Kill(t, cmd, 400*time.Millisecond)
	}
	seen := 0
	for o, err := range b.Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if body, err := b.get(t, o.Key); err != nil || !isSealed(body) {
			t.Errorf("%s is torn: %d bytes, %v", o.Key, len(body), err)
		}
		seen++
	}
	if err := patiently(t.Context(), func() error { return second(b.Put(t.Context(), "replaced", sealed(1, 10))) }); err != nil {
		t.Errorf("put after the kills: %v", err)
	}
	for n := range seen + 2 {
		key := fmt.Sprintf("created/%d", n)
		_, statErr := b.Stat(t.Context(), key)
		_, err := b.Create(t.Context(), key, sealed(2, 20), "")
		if there := statErr == nil; there != errors.Is(err, fs.ErrExist) || !there && err != nil {
			t.Errorf("create %s after the kills: %v (there before: %v)", key, err, there)
		}
	}
	t.Logf("%d objects, beside them %d temporary files", seen, strings.Count(b.raw(t, b.Dir()), keyname.TempStart))
}
