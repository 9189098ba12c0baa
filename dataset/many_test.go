//go:build unix

package dataset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestTogether has many processes meet on each kind of store.
func TestTogether(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (url func(prefix string) string){
		"local": func(t *testing.T) func(string) string {
			dir := t.TempDir()
			return func(prefix string) string { return filepath.Join(dir, prefix) }
		},
		"s3":   func(t *testing.T) func(string) string { return servers.MinIO(t).URL },
		"gcs":  func(t *testing.T) func(string) string { return servers.FakeGCS(t).URL },
		"hdfs": func(t *testing.T) func(string) string { return servers.Hadoop(t, nil).URL },
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t)
			t.Run("many", func(t *testing.T) { manyProcesses(t, url("many")) })
			t.Run("killed", func(t *testing.T) { killedAmongOthers(t, url("killed")) })
		})
	}
}

// seeded is the spec of one of several datasets.
func seeded(seed uint64) dataset.Spec {
	s := spec()
	s.Seed = seed
	return s
}

// joinVar tells a child process to stage once its input has ended, and to print
// what it was given: "URL SEED".
const joinVar = "HEIRLOOM_TEST_JOIN"

// joined is what such a child prints.
type joined struct {
	Hit    bool
	Commit dataset.Commit
	Rows   []int // of train and val, as read
}

func stageAndTell(order string) error {
	var url string
	var seed uint64
	if _, err := fmt.Sscan(order, &url, &seed); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, url, &store.Options{Environ: os.Environ()})
	if err != nil {
		return err
	}
	d, hit, err := dataset.Stage(ctx, s, seeded(seed), produce)
	if err != nil {
		return err
	}
	out := joined{Hit: hit, Commit: d.Commit}
	for _, name := range []dataset.Name{dataset.Train, dataset.Val} {
		r, err := dataset.Open(ctx, s, d.Commit.Splits[name].Dir)
		if err != nil {
			return err
		}
		table, err := r.ReadTable(ctx, nil)
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, table.Rows())
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// manyProcesses ask for two datasets at once. Each is made once, and all are
// given the same.
func manyProcesses(t *testing.T, url string) {
	answers := askAtOnce(t, url, max(6, storetest.Rounds(32)))
	first := map[store.Digest]string{}
	made := 0
	for _, answer := range answers {
		if !answer.Hit {
			made++
		}
		if got := fmt.Sprint(answer.Rows); got != "[300 100]" {
			t.Errorf("a process read %s rows", got)
		}
		text := mustJSON(t, answer.Commit)
		if seen, ok := first[answer.Commit.Fingerprint]; ok && seen != text {
			t.Errorf("one process was given %s, another %s", seen, text)
		}
		first[answer.Commit.Fingerprint] = text
	}
	if made != 2 || len(first) != 2 {
		t.Errorf("%d processes say that they made one of %d datasets", made, len(first))
	}
	s := openStore(t, url, &store.Options{Environ: os.Environ()})
	if claims := claimed(t, s); len(claims) != 2 {
		t.Errorf("the indices %v were taken, want two", claims)
	}
}

// askAtOnce starts n processes for two specs and lets all go at once.
func askAtOnce(t *testing.T, url string, n int) []joined {
	t.Helper()
	answers := make([]joined, n)
	var wg sync.WaitGroup
	var inputs []io.Closer
	for i := range n {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", joinVar, url, i%2))
		var out, complaint bytes.Buffer
		child.Stdout, child.Stderr = &out, &complaint
		input, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, input)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := child.Wait(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, &complaint)
				return
			}
			if err := json.Unmarshal(out.Bytes(), &answers[i]); err != nil {
				t.Errorf("process %d printed %s: %v", i, &out, err)
			}
		})
	}
	for _, input := range inputs {
		if err := input.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	return answers
}

// claimed lists the indices that were taken.
func claimed(t *testing.T, s *store.Store) []int {
	t.Helper()
	var list []int
	for _, key := range keys(t, s, "heirloom/datasets/index/") {
		if n, err := strconv.Atoi(key[strings.LastIndexByte(key, '/')+1:]); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// mostRequests is about how many requests a staging takes, one of which is the
// last before a producer is killed.
const mostRequests = 30

// killedAmongOthers kills a producer at a random request while others ask for
// the same. They are given the dataset, whoever made it. In the end no index was
// shared, and what the dead left behind can be reclaimed, and nothing else.
func killedAmongOthers(t *testing.T, url string) {
	s := openStore(t, url, &store.Options{Environ: os.Environ()})
	rounds := storetest.Rounds(200)
	if s.Scheme() != "file" && rounds < 200 {
		rounds = 4
	}
	killed, tried := 0, 0
	for ; killed < rounds && tried < 20*rounds; tried++ { // some are done before the request at which they were to die
		if killOne(t, s, url, uint64(tried)) {
			killed++
		}
	}
	if killed < rounds {
		t.Errorf("%d producers were killed, want %d", killed, rounds)
	}
	t.Logf("%d producers were killed, %d were not", killed, tried-killed)
	checkIndices(t, s)
	reclaimAll(t, s)
	checkIndices(t, s)
}

// killOne stages one dataset from three sides, one of which is killed.
func killOne(t *testing.T, s *store.Store, url string, seed uint64) (killed bool) {
	t.Helper()
	when := []string{"before", "after"}[rand.IntN(2)]
	at := 1 + rand.IntN(mostRequests)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %d %d", crashVar, url, seed, when, at, 1+rand.IntN(at)))
	var complaint bytes.Buffer
	child.Stderr = &complaint
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil && err != io.EOF { // it has begun, or is dead
		t.Fatal(err)
	}
	var results [2]*dataset.Dataset
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], _, err = (dataset.Stager{Lease: shortLease}).Stage(t.Context(), s, seeded(seed), produce); err != nil {
				t.Errorf("round %d, killed %s request %d: %v", seed, when, at, err)
			}
		})
	}
	err = child.Wait()
	killed = err != nil && strings.Contains(err.Error(), "killed")
	if err != nil && !killed {
		t.Errorf("round %d: %v\n%s", seed, err, &complaint)
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if mustJSON(t, results[0]) != mustJSON(t, results[1]) {
		t.Errorf("round %d: one was given %s, the other %s", seed, mustJSON(t, results[0].Commit), mustJSON(t, results[1].Commit))
	}
	read(t, s, results[0].Commit.Splits[dataset.Train].Dir, 0, 300)
	read(t, s, results[0].Commit.Splits[dataset.Val].Dir, 300, 400)
	return killed
}

// checkIndices holds that no two datasets share an index, and that a directory
// holds files of its own producer alone.
func checkIndices(t *testing.T, s *store.Store) {
	t.Helper()
	items, err := dataset.Inventory(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	taken := map[int]bool{}
	for _, item := range items {
		if taken[item.Commit.Index] {
			t.Errorf("index %d belongs to two datasets", item.Commit.Index)
		}
		taken[item.Commit.Index] = true
		read(t, s, item.Commit.Splits[dataset.Train].Dir, 0, 300)
	}
	for _, key := range keys(t, s, "intermediate_") {
		dir, name, _ := strings.Cut(key, "/")
		index, err := strconv.Atoi(dir[strings.LastIndexByte(dir, '.')+1:])
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if strings.HasPrefix(name, "part-") && !strings.Contains(name, fmt.Sprintf("-%012d-c000", index+1)) {
			t.Errorf("%s was written by the producer of another index", key)
		}
	}
}
