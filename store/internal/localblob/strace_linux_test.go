package localblob

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestSystemCalls looks with strace at what a write really asks of the kernel, and in which order.
func TestSystemCalls(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		servers.Missing(t, err, "apt-get install strace", "strace")
	}
	const temp = `\.heirloom-[0-9a-f]+\.tmp`
	written := []string{
		`openat\(.*` + temp + `.*O_EXCL`, `write\(\d+<.*` + temp + `>`, `fsync\(\d+<.*` + temp + `>`,
		`mkdirat\(.*"new"`,
	}
	synced, above := `fsync\(\d+<[^>]*/store/new>`, `fsync\(\d+<[^>]*/store>`
	for _, tt := range []struct {
		task string
		want []string
	}{
		{"put new/k", append(written, `rename.*`+temp+`.*"k"`, synced, above)},
		{"create new/k", append(written, `linkat\(.*`+temp+`.*"k"`, synced, above)},
		{"line new/k", append(written, `linkat\(.*`+temp+`.*"k"`, synced, above)},
		{"line old", []string{`openat\(.*"old", O_RDWR\|O_APPEND`, `write\(\d+<[^>]*/old>, "first line\\n"`, `fsync\(\d+<[^>]*/old>`, `fsync\(\d+<[^>]*/store>`}},
	} {
		t.Run(tt.task, func(t *testing.T) {
			dir, log := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "log")
			if err := os.Mkdir(dir, 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "old"), []byte("there\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := helperCommand(t, dir, tt.task, strace, "-f", "-y", "-o", log,
				"-e", "trace=openat,write,fsync,fdatasync,link,linkat,rename,renameat,renameat2,mkdirat")
			if err := cmd.Run(); err != nil {
				servers.Missing(t, err, "allow ptrace in this container", "strace")
			}
			wantOrder(t, log, tt.want)
		})
	}
}

// wantOrder checks that the calls occur in this order.
func wantOrder(t *testing.T, log string, calls []string) {
	t.Helper()
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	rest := string(trace)
	for _, call := range calls {
		at := regexp.MustCompile(call).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("no %s after the calls before it in\n%s", call, trace)
		}
		rest = rest[at[1]:]
	}
}
