package localblob

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

// nothing stands for the flushing of what only the listing is about.
func nothing(*os.File) error { return nil }

func benchBucket(b *testing.B) *Bucket {
	b.Helper()
	bucket, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = bucket.Close() })
	return bucket
}

// BenchmarkCreate creates objects of 100 bytes, each in a directory of its own now and then, from 64 goroutines.
func BenchmarkCreate(b *testing.B) {
	bucket := benchBucket(b)
	body := make([]byte, 100)
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			if _, err := bucket.Create(b.Context(), fmt.Sprintf("run-%d/metadata/%d", i/10, i), body); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}

// BenchmarkWalk lists 10,000 objects in 1,000 directories.
func BenchmarkWalk(b *testing.B) {
	bucket := benchBucket(b)
	bucket.sys.syncFile, bucket.sys.syncDir = nothing, nothing
	for i := range 10_000 {
		if _, err := bucket.Put(b.Context(), fmt.Sprintf("run-%d/metadata/%d", i/10, i), nil); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, err := range bucket.Walk(b.Context(), "") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}
