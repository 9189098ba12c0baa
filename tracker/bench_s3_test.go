package tracker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// slowS3 is a tracker on S3 over a link on which an answer takes 10 ms, and the
// same without that link, for filling it.
func slowS3(b *testing.B) (slow, direct *tracker.FileTracker) {
	server := servers.MinIO(b)
	direct = tracker.NewFileTracker(openStore(b, server.URL("bench"), nil), nil)
	check(b, direct.Init(b.Context(), tracker.InitOptions{}))
	server.Endpoint = "http://" + servers.SlowLink(b, strings.TrimPrefix(server.Endpoint, "http://"), 10*time.Millisecond, 100<<20)
	return tracker.NewFileTracker(openStore(b, server.URL("bench"), nil), nil), direct
}

// BenchmarkSlowS3Write has one writer, and 64.
func BenchmarkSlowS3Write(b *testing.B) {
	for _, writers := range []int{1, 64} {
		for what, write := range map[string]func(*tracker.FileTracker, int) error{
			"add-metadata": addMetadata(b), "add-artifact": addArtifact(b), "add-source": addSource(b),
		} {
			b.Run(fmt.Sprintf("%s-%d", what, writers), func(b *testing.B) {
				slow, _ := slowS3(b)
				n := 0
				for b.Loop() {
					var group errgroup.Group
					for i := range writers {
						group.Go(func() error { return write(slow, n+i) })
					}
					check(b, group.Wait())
					n += writers
				}
				perSecond(b, n, what)
			})
		}
	}
}

// BenchmarkSlowS3Read reads 1,000 runs, each of which used one of ten others.
func BenchmarkSlowS3Read(b *testing.B) {
	slow, direct := slowS3(b)
	const runs = 1000
	var group errgroup.Group
	group.SetLimit(32)
	for i := range runs {
		group.Go(func() error {
			run := tracker.RunID(fmt.Sprintf("local://torchx/slow-%04d", i))
			if err := direct.AddMetadata(b.Context(), run, object("i", i)); err != nil {
				return err
			}
			return direct.AddSource(b.Context(), run, tracker.Source{ID: tracker.RunID(fmt.Sprint("parent-", i%10))})
		})
	}
	check(b, group.Wait())
	for what, read := range readings(b, slow) {
		b.Run(what, func(b *testing.B) {
			total := 0
			for b.Loop() {
				n, err := read()
				check(b, err)
				total += n
			}
			perSecond(b, total, what)
		})
	}
	b.Run("TorchX", func(b *testing.B) {
		benchTorchX(b, "read", "s3", fsspecOptions(b, slow.Store().URL()), plain(slow.Store().URL()), 200)
	})
}

// readings are the ways to read many runs, and how many answers each gave.
func readings(b *testing.B, tr *tracker.FileTracker) map[string]func() (int, error) {
	return map[string]func() (int, error){
		"read-metadata": func() (n int, err error) {
			for _, err = range tr.Runs(b.Context(), nil) {
				n++
			}
			return n, err
		},
		"run-ids": func() (n int, err error) {
			for _, err = range tr.RunIDs(b.Context(), "") {
				n++
			}
			return 1, err
		},
		"run-ids-of-parent": func() (n int, err error) {
			for _, err = range tr.RunIDs(b.Context(), "parent-3") {
				n++
			}
			return 1, err
		},
	}
}

// BenchmarkSlowS3TorchX writes by TorchX over the link of BenchmarkSlowS3Write.
func BenchmarkSlowS3TorchX(b *testing.B) {
	slow, _ := slowS3(b)
	benchTorchX(b, "write", "s3", fsspecOptions(b, slow.Store().URL()), plain(slow.Store().URL()), 100)
}
