package hdfsblob

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// resumedEnv tells this test's own binary to upload a file: authority and directory, local file, and a journal, with
// blanks between. What the journal says has arrived is not sent again.
const resumedEnv = "HEIRLOOM_TEST_HDFS_RESUMED"

const (
	killedSize     = 64 << 20
	killedPart     = 4 << 20
	killedParallel = 4
)

// runResumed notes in the journal the token and each part, a line each, and says on its standard output when a part
// is begun.
func runResumed(order string) error {
	f := strings.Fields(order)
	authority, root, _ := strings.Cut(f[0], "/")
	b, err := Open(authority, root, nil)
	if err != nil {
		return err
	}
	file, err := os.Open(f[1])
	if err != nil {
		return err
	}
	token, parts, err := readJournal(f[2])
	if err != nil {
		return err
	}
	journal, err := os.OpenFile(f[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if token == "" {
		if token, err = b.Begin(ctx, "k"); err != nil {
			return err
		}
		fmt.Fprintln(journal, token)
	}
	var mu sync.Mutex // guards parts and journal
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(killedParallel)
	for i := range parts {
		if parts[i].Tag != "" {
			continue
		}
		group.Go(func() error {
			fmt.Println("part")
			body := io.NewSectionReader(file, int64(i)*killedPart, killedPart)
			sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
			if _, err := io.Copy(sum, body); err != nil {
				return err
			}
			body.Seek(0, io.SeekStart)
			tag, err := b.PutPart(groupCtx, "k", token, body, killedPart, sum.Sum32())
			mu.Lock()
			defer mu.Unlock()
			parts[i] = Part{killedPart, tag}
			if err == nil {
				_, err = fmt.Fprintln(journal, i, tag)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = b.Complete(ctx, "k", token, parts, Replace, "")
	return err
}

func readJournal(path string) (token string, parts []Part, err error) {
	parts = make([]Part, killedSize/killedPart)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	token, rest, _ := strings.Cut(string(text), "\n")
	for line := range strings.Lines(rest) {
		var i int
		var tag string
		if _, err := fmt.Sscan(line, &i, &tag); err != nil {
			return "", nil, fmt.Errorf("%q: %w", line, err)
		}
		parts[i] = Part{killedPart, tag}
	}
	return token, parts, nil
}

// testKilledUploads kills uploads at random moments and has the next process go on. What is visible must be whole, each
// kill may cost no more than the parts that were on their way, and nothing stay behind.
func testKilledUploads(t *testing.T, authority string) {
	b := open(t, authority, nil)
	file, journal := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "journal")
	var sums []string // of what the key may hold
	kills, begun, uploads := 0, 0, 0
	for kills < rounds(200) {
		sums = append(sums[max(0, len(sums)-1):], writeRandom(t, file))
		for done := false; !done; {
			deadline := time.Duration(rand.IntN(1500)) * time.Millisecond
			n, killed := runKilled(t, authority+b.Dir(), file, journal, deadline)
			begun += n
			if killed {
				kills++
			}
			done = !killed
			if sum := b.sum(t, "k"); sum != sums[len(sums)-1] && (done || sum != "" && sum != sums[0]) {
				t.Fatalf("after %d kills the key holds %q, want one of %q (done: %v)", kills, sum, sums, done)
			}
		}
		uploads++
		if err := os.Remove(journal); err != nil {
			t.Fatal(err)
		}
	}
	if most := uploads*killedSize/killedPart + kills*killedParallel; begun > most {
		t.Errorf("%d parts were sent for %d uploads and %d kills, want %d at most", begun, uploads, kills, most)
	}
	t.Logf("%d uploads, %d kills, %d parts sent of %d", uploads, kills, begun, uploads*killedSize/killedPart)
	if _, err := b.Sweep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if left := b.raw(t, b.Dir()); left != "k" {
		t.Errorf("left behind: %q", left)
	}
}

// runKilled runs an upload until it ends or is killed, and counts the parts that it began.
func runKilled(t *testing.T, place, file, journal string, after time.Duration) (begun int, killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", resumedEnv, place, file, journal))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		begun++
	}
	err = cmd.Wait()
	if err != nil && ctx.Err() == nil {
		t.Fatalf("the upload failed by itself: %v", err)
	}
	return begun, err != nil
}

// writeRandom gives the file other content and tells its hash.
func writeRandom(t *testing.T, path string) string {
	t.Helper()
	body := make([]byte, killedSize)
	rand.NewChaCha8([32]byte{byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())}).Read(body)
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// sum is the hash of an object, "" if there is none.
func (b *Bucket) sum(t *testing.T, key string) string {
	t.Helper()
	body, err := b.get(t, key)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(body))
}
