package hdfsblob

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// moverEnv tells this test's own binary to move a file, so that its memory is that of a client: what, authority and
// directory, local file, and how much at once, with blanks between.
const moverEnv = "HEIRLOOM_TEST_HDFS_MOVER"

// moved is what a client took.
type moved struct {
	wall, cpu time.Duration
	rss       int64 // bytes at the most
}

// move runs a command and measures it.
func move(tb testing.TB, cmd *exec.Cmd) moved {
	tb.Helper()
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return moved{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}
}

// mover is this binary as a client.
func mover(tb testing.TB, what, place, file string, parallel int) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d", moverEnv, what, place, file, parallel))
	return cmd
}

// runMover does what moverEnv says.
func runMover(order string) error {
	f := strings.Fields(order)
	authority, root, _ := strings.Cut(f[1], "/")
	b, err := Open(authority, root, nil)
	if err != nil {
		return err
	}
	parallel, err := strconv.Atoi(f[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch f[0] {
	case "up":
		return b.upload(ctx, f[2], parallel)
	case "down":
		return b.download(ctx, f[2], parallel)
	}
	return fmt.Errorf("cannot %s", f[0])
}

// upload stores a file in parts.
func (b *Bucket) upload(ctx context.Context, file string, parallel int) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	token, err := b.Begin(ctx, "k")
	if err != nil {
		return err
	}
	size := b.PartSize(info.Size(), 0)
	parts := make([]Part, (info.Size()+size-1)/size)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range parts {
		group.Go(func() (err error) {
			body := io.NewSectionReader(f, int64(i)*size, min(size, info.Size()-int64(i)*size))
			sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
			if _, err := io.Copy(sum, body); err != nil {
				return err
			}
			body.Seek(0, io.SeekStart)
			parts[i].Size = body.Size()
			parts[i].Tag, err = b.PutPart(ctx, "k", token, body, body.Size(), sum.Sum32())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = b.Complete(context.Background(), "k", token, parts, dirtree.Replace, "")
	return err
}

// download fetches ranges into a file.
func (b *Bucket) download(ctx context.Context, file string, parallel int) error {
	o, err := b.Stat(ctx, "k")
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	const size = 32 << 20
	for from := int64(0); from < o.Size; from += size {
		group.Go(func() error {
			r, err := b.Open(ctx, "k", from, size, o.Version)
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = io.CopyBuffer(io.NewOffsetWriter(f, from), struct{ io.Reader }{r}, make([]byte, 1<<20))
			return err
		})
	}
	return group.Wait()
}
