package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func benchTree(b *testing.B, files, size int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range files {
		path := filepath.Join(dir, fmt.Sprint(i%20), fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkLocalTree copies a tree into a store on the same disk, durably, beside
// what cp does, which flushes nothing, and with a flush at its end.
func BenchmarkLocalTree(b *testing.B) {
	for _, shape := range []struct{ files, size int }{{2000, 4 << 10}, {8, 32 << 20}} {
		dir := benchTree(b, shape.files, shape.size)
		for _, way := range []struct {
			name string
			copy func(to string) error
		}{
			{"heirloom", func(to string) error {
				s, err := store.Open(b.Context(), to, nil)
				if err != nil {
					return err
				}
				defer s.Close()
				return second(s.UploadTree(b.Context(), dir, "t", nil))
			}},
			{"cp", func(to string) error { return exec.CommandContext(b.Context(), "cp", "-r", dir, to).Run() }},
			{"cp and sync", func(to string) error {
				return exec.CommandContext(b.Context(), "sh", "-c", `cp -r "$0" "$1" && sync -f "$1"`, dir, to).Run()
			}},
		} {
			b.Run(fmt.Sprintf("%dx%dKiB/%s", shape.files, shape.size>>10, way.name), func(b *testing.B) {
				b.SetBytes(int64(shape.files * shape.size))
				for range b.N {
					if err := way.copy(filepath.Join(b.TempDir(), "to")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkS3File moves 256 MiB to and from servers on the same machine.
func BenchmarkS3File(b *testing.B) {
	const size = 256 << 20
	path := filepath.Join(benchTree(b, 1, size), "0", "0")
	for name, server := range map[string]func(testing.TB) servers.S3{"minio": servers.MinIO, "versitygw": servers.VersityGW} {
		s, err := store.Open(b.Context(), server(b).URL(""), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/up", func(b *testing.B) {
			b.SetBytes(size)
			for range b.N {
				if _, err := s.Upload(b.Context(), path, "o", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/down", func(b *testing.B) {
			b.SetBytes(size)
			for range b.N {
				if _, err := s.Download(b.Context(), "o", filepath.Join(b.TempDir(), "f"), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
