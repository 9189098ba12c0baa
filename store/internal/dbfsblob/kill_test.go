package dbfsblob

import (
	"bytes"
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
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// killedEnv tells this test's own binary to be the writer that is killed, in this directory of the workspace.
const killedEnv = "HEIRLOOM_TEST_DBFS_WRITER"

func TestMain(m *testing.M) {
	if root := os.Getenv(killedEnv); root != "" {
		if err := writeForEver(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeForEver creates, replaces and streams objects of all sizes until it is killed.
func writeForEver(root string) error {
	c, err := LoadConfig(os.Getenv)
	if err != nil {
		return err
	}
	b, err := Open(root, c)
	if err != nil {
		return err
	}
	if d, ok := b.api.(*dbfs); ok {
		d.block = testBlock
	}
	fmt.Println("ready")
	ctx := context.Background()
	for n := 0; ; n++ {
		body := sealed(rand.IntN(1 << rand.IntN(18)))
		if err := b.Put(ctx, "replaced", sealed(len(body)%(testBlock-20))); err != nil {
			return err
		}
		if err := b.Create(ctx, fmt.Sprintf("created/%d", n), body); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := b.PutStream(ctx, fmt.Sprintf("streamed/%d", n%3), bytes.NewReader(body), dirtree.Replace); err != nil {
			return err
		}
	}
}

// sealed is a body that tells its own length in front.
func sealed(size int) []byte {
	return fmt.Appendf(nil, "%d %s", size, strings.Repeat("x", size))
}

func isSealed(body string) bool {
	length, rest, _ := strings.Cut(body, " ")
	return length == fmt.Sprint(len(rest)) && strings.Trim(rest, "x") == ""
}

// TestKilledWriters kills writers at random moments. What is visible must be whole, and nothing be in the way of the next.
func TestKilledWriters(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		for range rounds(200) {
			killOne(t, server, b)
		}
		objects := 0
		for o, err := range b.Walk(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			body, err := b.read(t.Context(), o.Key)
			if err != nil || !isSealed(body) {
				t.Errorf("%s is torn: %d bytes, %v", o.Key, len(body), err)
			}
			objects++
		}
		for n := range objects + 2 {
			key := fmt.Sprintf("created/%d", n)
			_, statErr := b.Stat(t.Context(), key)
			err := b.Create(t.Context(), key, sealed(20))
			if there := statErr == nil; there != errors.Is(err, fs.ErrExist) || !there && err != nil {
				t.Errorf("create %s after the kills: %v (there before: %v)", key, err, there)
			}
		}
		t.Logf("%d objects, beside them %d temporary files", objects, strings.Count(strings.Join(server.Files(), " "), keyname.TempStart))
	})
}

func killOne(t *testing.T, server *servers.Databricks, b *Bucket) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), server.Environ...), killedEnv+"="+b.Dir())
	dirtreetest.Kill(t, cmd, 200*time.Millisecond)
}
