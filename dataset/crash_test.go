//go:build unix

package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// crashVar tells a child process to stage and to kill itself: "URL SEED before|after N
// FROM", where at request FROM, 0 for none, it prints a line.
const crashVar = "HEIRLOOM_TEST_CRASH"

func TestMain(m *testing.M) {
	for name, job := range map[string]func(order string) error{crashVar: stageAndCrash, joinVar: stageAndTell} {
		order := os.Getenv(name)
		if order == "" {
			continue
		}
		if err := job(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := warmCodecs(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// warmCodecs compresses and reads once. The encoder that all pages share makes its
// channel when it is first used: within the bubble of a test it would be of use to
// no other, and which test comes first is left to chance.
func warmCodecs() error {
	ctx := context.Background()
	s, err := store.Open(ctx, "mem://", nil)
	if err != nil {
		return err
	}
	defer s.Close()
	d, _, err := dataset.Stage(ctx, s, spec(), produce)
	if err != nil {
		return err
	}
	r, err := dataset.Open(ctx, s, d.Commit.Splits[dataset.Train].Dir)
	if err != nil {
		return err
	}
	_, err = r.ReadTable(ctx, nil)
	return err
}

// shortLease is that of producers which are about to be killed: who waits for
// them goes by it.
const shortLease = 80 * time.Millisecond

// stageAndCrash dies around a request, with nothing cleaned up.
func stageAndCrash(order string) error {
	var url, when string
	var at, from int64
	var seed uint64
	if _, err := fmt.Sscan(order, &url, &seed, &when, &at, &from); err != nil {
		return err
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	var n atomic.Int64
	s, err := store.Open(context.Background(), url, &store.Options{Environ: os.Environ(), Intercept: func(_ context.Context, _ store.Request, do func() error) error {
		number := n.Add(1)
		if number == from {
			fmt.Println("begun")
		}
		now := number == at
		if now && when == "before" {
			die()
		}
		err := do()
		if now {
			die()
		}
		return err
	}})
	if err != nil {
		return err
	}
	_, _, err = dataset.Stager{Lease: shortLease}.Stage(context.Background(), s, seeded(seed), produce)
	return err
}

// TestKilledProducer kills a producer before and after each of its requests.
// Until the commit is there, nothing of its work is seen; the next producer
// makes the dataset, in another directory; after the commit it is found.
func TestKilledProducer(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			for at := 1; killProducer(t, when, at); at++ {
			}
		})
	}
}

// killProducer is false once a staging takes fewer requests than that.
func killProducer(t *testing.T, when string, at int) bool {
	t.Helper()
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %d 0", crashVar, dir, spec().Seed, when, at))
	out, err := child.CombinedOutput()
	if err == nil {
		if at < 10 {
			t.Errorf("a staging took %d requests, fewer than it can", at-1)
		}
		return false
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("killed %s request %d: %v\n%s", when, at, err, out)
	}
	checkAfterCrash(t, openStore(t, dir, nil), fmt.Sprint("killed ", when, " request ", at))
	return true
}

func checkAfterCrash(t *testing.T, s *store.Store, what string) {
	t.Helper()
	fingerprint, err := spec().Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Stat(t.Context(), store.Key("heirloom/datasets/"+fingerprint))
	committed := err == nil
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		t.Fatal(err)
	}
	for _, dir := range []store.Key{"intermediate_train_data.0", "intermediate_val_data.0"} {
		if err := readAll(t, s, dir); err == nil && len(keys(t, s, string(dir)+"/_SUCCESS")) == 0 {
			t.Errorf("%s: %s can be read without _SUCCESS", what, dir)
		}
	}
	d, hit, err := dataset.Stage(t.Context(), s, spec(), produce)
	if err != nil || hit != committed {
		t.Fatalf("%s: staged again: hit %v, want %v; %v", what, hit, committed, err)
	}
	claimed := 0
	for _, key := range keys(t, s, "heirloom/datasets/index/") {
		if !strings.Contains(key, ".") {
			claimed++
		}
	}
	if !committed && d.Commit.Index != claimed-1 {
		t.Errorf("%s: staged again under index %d of %d", what, d.Commit.Index, claimed)
	}
	read(t, s, d.Commit.Splits[dataset.Train].Dir, 0, 300)
	read(t, s, d.Commit.Splits[dataset.Val].Dir, 300, 400)
}
