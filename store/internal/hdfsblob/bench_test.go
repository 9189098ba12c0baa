package hdfsblob

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// BenchmarkHDFSGiB moves 1 GiB up and down beside Hadoop's own client, each in a process of its own, whose memory and
// CPU seconds it tells.
func BenchmarkHDFSGiB(b *testing.B) {
	h := servers.Hadoop(b, nil)
	source, target := randomFile(b, 1<<30), filepath.Join(b.TempDir(), "target")
	place, url := h.Authority+"/bench", "hdfs://"+h.Authority+"/k"
	run := func(name string, command func() *exec.Cmd) {
		b.Run(name, func(b *testing.B) {
			var total moved
			for range b.N {
				os.Remove(target)
				total = total.and(move(b, command()))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(total.wall.Seconds()/float64(b.N), "s")
			b.ReportMetric(total.cpu.Seconds()/float64(b.N), "CPU-s")
			b.ReportMetric(float64(total.rss>>20), "MiB")
		})
	}
	run("up/hadoop", func() *exec.Cmd { return h.Shell("-put", "-f", source, url) })
	for _, n := range []int{1, 4, 8} {
		run(fmt.Sprint("up/parts", n), func() *exec.Cmd { return mover(b, "up", place, source, n) })
	}
	run("down/hadoop", func() *exec.Cmd { return h.Shell("-get", url, target) })
	for _, n := range []int{1, 4, 8} {
		run(fmt.Sprint("down/ranges", n), func() *exec.Cmd { return mover(b, "down", place, target, n) })
	}
}

func (m moved) and(o moved) moved {
	return moved{m.wall + o.wall, m.cpu + o.cpu, max(m.rss, o.rss)}
}

// randomFile is of size bytes, a multiple of a MiB.
func randomFile(tb testing.TB, size int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "source")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	block := random(1 << 20)
	for range size / len(block) {
		if _, err := f.Write(block); err != nil {
			tb.Fatal(err)
		}
	}
	return path
}
