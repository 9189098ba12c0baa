package tracker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// benchTorchX reports what bench_torchx.py measures of TorchX's FsspecTracker.
func benchTorchX(b *testing.B, mode, protocol string, options *pyjson.Object, root string, count int, more ...string) {
	// To boto an empty AWS_PROFILE is the name of one.
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasSuffix(v, "=") })
	python := servers.Python(b, torchxPin, fsspecPin)
	if protocol == "s3" {
		python = servers.Python(b, torchxPin, fsspecPin, s3fsPin)
	}
	for b.Loop() {
		if mode != "read" && protocol == "file" {
			root = b.TempDir()
		}
		args := append([]string{mode, protocol, dump(b, options), root, strconv.Itoa(count)}, more...)
		rates, err := pyjson.UnmarshalObject(scriptBy(b, python, environ, "", "bench_torchx.py", args...))
		check(b, err)
		for what, rate := range rates.All() {
			b.ReportMetric(rate.(float64), what)
		}
	}
}

// BenchmarkTorchX measures one writer and 64: as TorchX is, and with every file
// and directory flushed, which is what heirloom does.
func BenchmarkTorchX(b *testing.B) {
	for name, more := range map[string][]string{"as it is": nil, "flushed": {"fsync"}} {
		b.Run("1 writer "+name, func(b *testing.B) { benchTorchX(b, "write", "file", object(), "", benchCount, more...) })
		b.Run("64 writers "+name, func(b *testing.B) { benchTorchX(b, "many", "file", object(), "", benchEach, more...) })
	}
}

// benchEach is how many records of metadata each of 64 processes writes.
const benchEach = 100

// Benchmark64Processes has them write at the same time, each to a run of its own.
func Benchmark64Processes(b *testing.B) {
	n := 0
	for b.Loop() {
		b.StopTimer()
		root := b.TempDir()
		start, wait := gather(b, root, 64)
		b.StartTimer()
		start()
		wait()
		n += 64 * benchEach
	}
	perSecond(b, n, "add-metadata")
}

// gather starts processes that wait for start; wait is for their end.
func gather(b *testing.B, root string, processes int) (start, wait func()) {
	var starts, waits []func()
	for i := range processes {
		cmd := helper(b, "bench", root, strconv.Itoa(i), strconv.Itoa(benchEach))
		in, err := cmd.StdinPipe()
		check(b, err)
		out, err := cmd.StdoutPipe()
		check(b, err)
		check(b, cmd.Start())
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		starts = append(starts, func() { check(b, in.Close()) })
		waits = append(waits, func() { check(b, cmd.Wait()) })
	}
	all := func(list []func()) func() {
		return func() {
			for _, do := range list {
				do()
			}
		}
	}
	return all(starts), all(waits)
}

// addTogether adds metadata once its stdin ends.
func addTogether(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	each, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err == nil {
		return errors.New("nothing was to be said")
	}
	run := tracker.RunID("local://torchx/bench-" + args[0])
	for i := range each {
		if err := tr.AddMetadata(ctx, run, object(fmt.Sprint("k", i), i)); err != nil {
			return err
		}
	}
	return nil
}

// manyRuns is a root of 10,000 runs as TorchX writes them, each of which used one
// of ten others.
func manyRuns(b *testing.B) string {
	root := b.TempDir()
	for i := range 10_000 {
		run := filepath.Join(root, b32("local://torchx/many-"+strconv.Itoa(i)))
		for file, body := range map[string]string{
			"metadata/1700000000000000001":                 `{"metadata": {"i": ` + strconv.Itoa(i) + `}}`,
			"sources/" + b32("parent-"+strconv.Itoa(i%10)): "\n",
		} {
			path := filepath.Join(run, filepath.FromSlash(file))
			check(b, os.MkdirAll(filepath.Dir(path), 0o750))
			check(b, os.WriteFile(path, []byte(body), 0o640))
		}
	}
	return root
}

// BenchmarkRead10000 reads them, and TorchX does.
func BenchmarkRead10000(b *testing.B) {
	root := manyRuns(b)
	tr := tracker.NewFileTracker(openStore(b, root, nil), nil)
	for what, read := range readings(b, tr) {
		b.Run(what, func(b *testing.B) {
			total, begun := 0, processorTime(b)
			for b.Loop() {
				n, err := read()
				check(b, err)
				total += n
			}
			perSecond(b, total, what)
			b.ReportMetric(float64((processorTime(b)-begun).Milliseconds())/float64(b.N), what+"-cpu-ms")
		})
	}
	b.Run("TorchX", func(b *testing.B) { benchTorchX(b, "read", "file", object(), root, 10_000) })
}
