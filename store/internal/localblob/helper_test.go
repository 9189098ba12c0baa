package localblob

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestMain lets the test binary be run again as a process that works on a bucket, to be watched, joined or killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LOCALBLOB_TEST_DIR"); dir != "" {
		if err := helper(dir, os.Getenv("LOCALBLOB_TEST_TASK")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helperCommand runs task on the bucket at dir, behind the words of wrap.
func helperCommand(t *testing.T, dir, task string, wrap ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(wrap, self)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LOCALBLOB_TEST_DIR="+dir, "LOCALBLOB_TEST_TASK="+task)
	cmd.Stderr = os.Stderr
	return cmd
}

func helper(dir, task string) error {
	ctx := context.Background()
	b, err := Open(dir, nil)
	if err != nil {
		return err
	}
	defer b.Close()
	verb, arg, _ := strings.Cut(task, " ")
	switch verb {
	case "put":
		_, err = b.Put(ctx, arg, []byte("body"))
	case "create":
		_, err = b.Create(ctx, arg, []byte("body"))
	case "line":
		return b.AppendLines(ctx, arg, []string{"first line"})
	case "append":
		return appendMany(ctx, b, arg)
	case "loop":
		return loop(ctx, b)
	}
	return err
}

// appendMany adds 100 lines of its own to one file, one at a time.
func appendMany(ctx context.Context, b *Bucket, name string) error {
	for i := range 100 {
		if err := b.AppendLines(ctx, "shared/lines", []string{name + "-" + strconv.Itoa(i)}); err != nil {
			return err
		}
	}
	return nil
}

// loop writes for ever and says of each thing that it is done, once it is.
func loop(ctx context.Context, b *Bucket) error {
	acks := bufio.NewWriterSize(os.Stdout, 0)
	for i := 0; ; i++ {
		key := fmt.Sprintf("dir-%d/new/%d", i%5, i)
		if _, err := b.Create(ctx, key, wholeBody(i)); err != nil {
			return err
		}
		if _, err := b.Put(ctx, "over/written", wholeBody(i)); err != nil {
			return err
		}
		if err := b.AppendLines(ctx, "lines/"+strconv.Itoa(i%3), []string{strconv.Itoa(i)}); err != nil {
			return err
		}
		fmt.Fprintln(acks, i)
		if err := acks.Flush(); err != nil {
			return err
		}
	}
}

// wholeBody says its own number and length, at every length up to some pages.
func wholeBody(i int) []byte {
	n := i * 977 % 20000
	return []byte(fmt.Sprintf("%d %d ", i, n) + strings.Repeat("x", n) + "end")
}

// numberOf returns the number of a body, and whether it is whole.
func numberOf(body []byte) (int, bool) {
	var i, n int
	if _, err := fmt.Sscan(string(body), &i, &n); err != nil {
		return 0, false
	}
	return i, string(body) == string(wholeBody(i))
}

// rounds is how often a test repeats: a twentieth of full, all with HEIRLOOM_STRESS=1.
func rounds(full int) int {
	if os.Getenv("HEIRLOOM_STRESS") == "1" {
		return full
	}
	return max(1, full/20)
}
